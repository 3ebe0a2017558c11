/** The peers' way to the database, the best that postgres.js has: clients of one connection, taken in turn. */
import postgres from 'postgres'

export interface Clients {
  query<Row>(text: string, parameters: unknown[]): Promise<Row[]>
  close(): Promise<void>
}

export function openClients(url: string, count: number): Clients {
  const clients = Array.from({ length: count }, () => postgres(url, { max: 1, onnotice: () => {} }))
  let next = 0
  return {
    query<Row>(text: string, parameters: unknown[]) {
      next = next + 1 === count ? 0 : next + 1
      return clients[next]!.unsafe(text, parameters as never[], { prepare: true }) as unknown as Promise<
        Row[]
      >
    },
    async close() {
      await Promise.all(clients.map((client) => client.end({ timeout: 1 })))
    },
  }
}
