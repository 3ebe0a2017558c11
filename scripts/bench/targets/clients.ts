/** The peers' way to the database, the best that postgres.js has: clients of one connection, taken in turn. */
import postgres from 'postgres'

export interface Clients {
  /** `planOnce` as the gateway does it for the same operation. */
  query<Row>(text: string, parameters: unknown[], planOnce?: boolean): Promise<Row[]>
  close(): Promise<void>
}

/** Each connects at its first query. */
export function openClients(url: string, count: number): Clients {
  const open = (connection: Record<string, string>) =>
    Array.from({ length: count }, () => postgres(url, { max: 1, connection, onnotice: () => {} }))
  const usual = open({})
  const plannedOnce = open({ plan_cache_mode: 'force_generic_plan' })
  let next = 0
  return {
    query<Row>(text: string, parameters: unknown[], planOnce = false) {
      next = next + 1 === count ? 0 : next + 1
      const client = (planOnce ? plannedOnce : usual)[next]!
      return client.unsafe(text, parameters as never[], { prepare: true }) as unknown as Promise<Row[]>
    },
    async close() {
      await Promise.all([...usual, ...plannedOnce].map((client) => client.end({ timeout: 1 })))
    },
  }
}
