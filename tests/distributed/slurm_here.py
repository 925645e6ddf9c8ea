"""A Slurm of two nodes on this machine: munged, slurmctld and two slurmd, with keys, sockets, ports and state in a folder of its own."""

import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import time

# Nodes have names that lead here, as addresses of the loopback do: rank 0 is reached by the name of its node.
CONF = """ClusterName=here
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CredType=cred/munge
SlurmctldPort={port}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmdParameters=config_overrides
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
InactiveLimit=0
KillWait=5
WaitTime=0
MailProg=/bin/true
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=10 State=UP
"""
PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "sinfo")
PACKAGES = ("munge", "slurmctld", "slurmd", "slurm-client")


def where(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def missing():
    return [name for name in PROGRAMS if not where(name)]


class Slurm:
    """Starts it; `say` what is wrong by an AssertionError."""

    def __init__(self, folder, nodes=2, cpus=4):
        self.folder = folder
        self.processes = []
        self.env = {**os.environ, "SLURM_CONF": os.path.join(folder, "slurm.conf")}
        os.chmod(folder, 0o755)
        for name in ("state", "spool"):
            os.makedirs(os.path.join(folder, name), exist_ok=True)
        host = socket.gethostname().split(".")[0]
        names = ["127.0.0.%d" % (2 + node) for node in range(nodes)]
        ports = random.Random(os.getpid()).sample(range(20000, 30000), 3)
        rows = ["NodeName=%s NodeAddr=%s Port=%d CPUs=%d State=UNKNOWN" % (name, name, port, cpus)
                for name, port in zip(names, ports[1:])]
        with open(self.env["SLURM_CONF"], "w") as file:
            file.write(CONF.format(folder=folder, host=host, user=pwd.getpwuid(os.getuid()).pw_name, port=ports[0], nodes="\n".join(rows)))
        key = os.path.join(folder, "munge.key")
        with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o400), "wb") as file:
            file.write(os.urandom(1024))
        self.start("munged", "-F", "-f", "--key-file=" + key, "--socket=%s/munge.sock" % folder, "--pid-file=%s/munged.pid" % folder,
                   "--log-file=%s/munged.log" % folder, "--seed-file=%s/munged.seed" % folder)
        self.until(lambda: os.path.exists(folder + "/munge.sock"), "munged does not listen")
        self.start("slurmctld", "-D", "-c")
        self.nodes = []
        for name in names:
            self.start("slurmd", "-D", "-N", name)
            self.nodes.append(name)
        self.until(lambda: self.idle() == len(self.nodes), "the nodes do not come")

    def start(self, name, *words):
        log = open(os.path.join(self.folder, "%s.%d.out" % (name, len(self.processes))), "wb")
        self.processes.append(subprocess.Popen([where(name), *words], env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log))
        log.close()

    def idle(self):
        done = subprocess.run([where("sinfo"), "-h", "-N", "-o", "%N %t"], env=self.env, capture_output=True, text=True, timeout=60)
        return len({line.split()[0] for line in done.stdout.splitlines() if line.split()[-1] == "idle"})

    def until(self, condition, what, patience=60):
        until = time.monotonic() + patience
        while not condition():
            ended = [process.args for process in self.processes if process.poll() is not None]
            if ended or time.monotonic() > until:
                raise AssertionError("%s; %s\n%s" % (what, "ended: %s" % ended if ended else "", self.logs()))
            time.sleep(0.2)

    def logs(self):
        text = ""
        for name in sorted(os.listdir(self.folder)):
            if name.endswith((".log", ".out")):
                with open(os.path.join(self.folder, name), errors="replace") as file:
                    text += "--- %s\n%s" % (name, "".join(file.readlines()[-12:]))
        return text

    def end(self):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in reversed(self.processes):
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
