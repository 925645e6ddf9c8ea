#include "backends/net/keys.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "tests/unit/catch.h"

using namespace df::net;

namespace {

struct Folder {
  Folder() {
    char name[] = "/tmp/dfc-keys-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~Folder() { static_cast<void>(!std::system(("rm -rf " + path).c_str())); }
  std::string path;
};

std::string Key(char c) { return std::string(40, c); }
ClusterKeys Keys() { return {{Key('a'), Key('b')}, {Key('c'), Key('d')}, {Key('c'), Key('e')}}; }

}  // namespace

TEST_CASE("a key file is read back, and what is none is refused with its line") {
  std::string why;
  const std::string text = KeyFileText(Keys());
  auto keys = ParseKeyFile(text, &why);
  REQUIRE(keys);
  CHECK(KeyFileText(*keys) == text);
  const auto refused = [&](std::string wrong) {
    CHECK_FALSE(ParseKeyFile(wrong, &why));
    return why;
  };
  const std::string head = text.substr(0, text.find('\n') + 1);
  CHECK(refused("hello") == "it does not begin with `# dfc cluster key 1`");
  CHECK(refused(head) == "there is no `server-public`");
  CHECK(refused(head + "server-public  short\n") == "line 2: no key of 40 characters stands behind the name");
  CHECK(refused(head + "server-public  " + Key('"') + "\n") == "line 2: no key of 40 characters stands behind the name");
  CHECK(refused(head + "other " + Key('a') + "\n") == "line 2: neither a key's name nor `allowed`");
  CHECK(refused(text + "client-public " + Key('a') + "\n") == "line 8: `client-public` for a second time");
  CHECK(refused(text.substr(0, text.find("allowed"))) == "nobody is `allowed`");
  // No secret is told.
  CHECK(why.find(Key('b')) == std::string::npos);
}

TEST_CASE("a key file is for its owner only, and stays when it is there") {
  Folder folder;
  const std::string path = folder.path + "/cluster.key";
  std::string why;
  REQUIRE(WriteKeyFile(path, Keys(), &why));
  struct stat info;
  REQUIRE(::stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  CHECK_FALSE(WriteKeyFile(path, Keys(), &why));
  CHECK(why == "`" + path + "` is there already; another key would lock out who has this one");
  CHECK(ReadKeyFile(path, &why));
  for (mode_t mode : {0640, 0604, 0620, 0602, 0666}) {
    ::chmod(path.c_str(), mode);
    CHECK_FALSE(ReadKeyFile(path, &why));
    CHECK(why.find("chmod 600 " + path) != std::string::npos);
  }
  ::chmod(path.c_str(), 0400);
  CHECK(ReadKeyFile(path, &why));
  // As Kubernetes mounts a secret: a link to a file in another folder.
  REQUIRE(::symlink(path.c_str(), (folder.path + "/link").c_str()) == 0);
  CHECK(ReadKeyFile(folder.path + "/link", &why));
  CHECK_FALSE(ReadKeyFile(folder.path, &why));
  CHECK_FALSE(ReadKeyFile(folder.path + "/none", &why));
  CHECK(why.find("No such file") != std::string::npos);
  REQUIRE(::mkfifo((folder.path + "/pipe").c_str(), 0600) == 0);
  CHECK_FALSE(ReadKeyFile(folder.path + "/pipe", &why));
  CHECK_FALSE(WriteKeyFile(folder.path + "/no/such/folder", Keys(), &why));
  CHECK_FALSE(WriteKeyFile(folder.path + "/link", Keys(), &why));
  // Nothing is left beside it.
  size_t entries = 0;
  std::string names;
  FILE* list = ::popen(("ls -A " + folder.path).c_str(), "r");
  for (int c; (c = std::fgetc(list)) != EOF;) entries += c == '\n', names += static_cast<char>(c);
  ::pclose(list);
  INFO(names);
  CHECK(entries == 3);
}
