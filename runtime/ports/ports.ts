/** The names of the ports, and what is known of their calls. */

/** The adapter of each port by the port's name: a section adds its own by declaration merging. */
// biome-ignore lint/suspicious/noEmptyInterface: sections add to it
export interface SectionPorts {}

/** The ports of the runtime itself. */
export type OwnPort = 'mail' | 'storage'
export type PortName = keyof SectionPorts | OwnPort

export interface PortFacts {
  /** Whose account it is at the provider: each store's own, over its connection, or this server's. */
  account: 'store' | 'server'
  /** Methods that need not ask the provider: that they succeed says nothing. */
  local?: readonly string[]
  /** Whether what a method answered shows that the provider still takes our access; null: as of every port. */
  provesAccess?(method: string, answer: unknown): boolean | null
}
