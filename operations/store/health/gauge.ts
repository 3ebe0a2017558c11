/** A metric: the number of connections of all stores, by port and state. */
import { sql } from 'kysely'
import type { SystemContext } from '#runtime/context'
import type { Gauge } from '#runtime/server/instruments'

/** Counts all connections with one statement. A connection without a health row has never failed and counts as connected. */
const countConnections = (system: SystemContext) =>
  sql<{ port: string; state: string; connections: number }>`
    with there as (
      select store_id, port, '' as part, connected_at from connections where connected_at is not null
      union all
      select store_id, 'messaging', type, connected_at from messaging_connections
      where status = 'connected'
        or (type = 'official' and status in ('verifying', 'error') and credentials is not null)
    )
    select t.port, coalesce(h.state, 'connected') as state, count(*)::int as connections
    from there t left join connection_health h on h.store_id = t.store_id and h.port = t.port and h.part = t.part
      and h.connected_at is not distinct from t.connected_at
    group by 1, 2
    union all
    select port, state, count(*)::int from provider_health group by 1, 2`.execute(system.root)

export const connectionStates: Gauge = {
  name: 'connections',
  help: "Connections to providers by port and state; of billing, mail and storage, the server's own that have ever failed",
  labels: ['port', 'state'],
  async values(system) {
    const { rows } = await countConnections(system)
    return rows.map(({ port, state, connections }) => ({ labels: { port, state }, value: connections }))
  },
}
