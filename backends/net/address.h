// backends/net/address.h
//
// Addresses of processes: tcp://host:port, ipc://path. Which may be open to whoever reaches them, and folders for ipc sockets.
#pragma once

#include <string>

namespace df::net {

// Empty if a process may listen there, or connect to it; else why not. Without keys only an ipc socket in a folder that is the user's alone may
// be used: a loopback address is open to everybody who works on the machine. With `open_loopback` such a one, written as a number or
// `localhost`, may be used, too: for tests.
std::string WrongAddress(const std::string& address, bool has_keys, bool open_loopback = false);

// Removes a folder of ipc sockets and all that is in it. True: it is no more. False: somebody has just put something there.
bool RemoveIpcFolder(const std::string& path);

// A new folder for ipc sockets, which only this user can enter. It goes with the object, and all that is in it.
class IpcFolder {
 public:
  IpcFolder();
  ~IpcFolder();
  IpcFolder(const IpcFolder&) = delete;
  IpcFolder& operator=(const IpcFolder&) = delete;

  // Empty: there is none, and errno says why.
  const std::string& path() const { return path_; }
  // ipc://... of a socket in it.
  std::string Address(const std::string& name) const { return "ipc://" + path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace df::net
