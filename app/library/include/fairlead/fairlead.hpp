#pragma once
// Includes everything: agents, nodes, workflows and clients. C++17; see docs/cpp.md.

#include <fairlead/agent.hpp>
#include <fairlead/client.hpp>
#include <fairlead/node.hpp>
#include <fairlead/workflow.hpp>
