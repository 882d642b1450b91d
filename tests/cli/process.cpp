// Runs one shell command and keeps what it said.
#include "tests/cli/process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace rondo::cli_test {
namespace {

std::string read_all(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return (std::ostringstream() << in.rdbuf()).str();
}

// Only calls that are safe between fork and exec.
[[noreturn]] void become_shell(const char* command, const char* folder, const char* out,
                               const char* err) {
  ::setpgid(0, 0);
  const int input = ::open("/dev/null", O_RDONLY);
  const int output = ::open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int errors = ::open(err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (input < 0 || output < 0 || errors < 0 || ::chdir(folder) != 0) ::_exit(126);
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  ::execl("/bin/sh", "sh", "-c", command, static_cast<char*>(nullptr));
  ::_exit(127);
}

}  // namespace

Outcome run_command(const std::string& command, const std::string& folder, int seconds) {
  using Clock = std::chrono::steady_clock;
  const std::string out_path = folder + ".out";
  const std::string err_path = folder + ".err";
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) become_shell(command.c_str(), folder.c_str(), out_path.c_str(), err_path.c_str());

  Outcome outcome;
  const auto deadline = Clock::now() + std::chrono::seconds(seconds);
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (!outcome.timed_out && Clock::now() > deadline) {
      outcome.timed_out = true;
      ::kill(-child, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  outcome.exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  outcome.out = read_all(out_path);
  outcome.err = read_all(err_path);
  return outcome;
}

}  // namespace rondo::cli_test
