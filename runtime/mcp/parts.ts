/** What `/mcp` is made of. */
import type { Gateway } from '#runtime/gateway/gateway'
import type { RouteTable } from '#runtime/gateway/routes'
import type { Registry } from '#runtime/registry/loaded'

export interface McpParts {
  gateway: Gateway
  registry: Registry
  routes: RouteTable
}
