// The whole command line, declared in one call, for main and for the generated documentation.
#pragma once

namespace CLI {
class App;
}

namespace rondo {

/// Gives `app` the program's name, description and every sub-command.
void declare_program(CLI::App& app, int& status);

}  // namespace rondo
