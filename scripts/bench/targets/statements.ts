/** The statement of each operation, run by every server: PostgreSQL builds the body, as for the gateway. */
import { hash } from 'node:crypto'
import postgres from 'postgres'

const iso = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

const optOut = `json_build_object('id', id, 'phone', phone, 'note', note, 'source', source, 'campaignId', campaign_id,
  'createdAt', ${iso('created_at')}, 'updatedAt', ${iso('updated_at')})`

export const texts = {
  read: `select json_build_object('id', l.id, 'name', l.name, 'source', l.source, 'filters', l.filters, 'size', l.size,
    'optedOut', case when l.size < (select count(*) from opt_outs where store_id = $1)
      then (select count(*) from list_contacts c cross join lateral (
        select 1 from opt_outs o where o.store_id = $1 and o.phone_key = c.phone_key limit 1) as found
        where c.store_id = $1 and c.list_id = l.id)
      else (select count(*) from opt_outs o cross join lateral (
        select 1 from list_contacts c where c.store_id = $1 and c.list_id = l.id and c.phone_key = o.phone_key
        limit 1) as found where o.store_id = $1) end,
    'customFieldNames', l.custom_field_names,
    'import', (select json_build_object('jobId', i.id, 'kind', i.kind, 'status', i.status, 'total', i.total,
        'processed', i.processed, 'added', i.added, 'updated', i.updated, 'unchanged', i.unchanged,
        'invalid', i.invalid, 'excluded', i.excluded, 'errors', i.errors, 'failureReason', i.failure_reason,
        'startedAt', ${iso('i.started_at')}, 'finishedAt', ${iso('i.finished_at')})
      from list_imports i where i.list_id = l.id and i.store_id = $1 order by i.id desc limit 1),
    'lastSyncedAt', ${iso('l.last_synced_at')}, 'createdAt', ${iso('l.created_at')},
    'updatedAt', ${iso('l.updated_at')})::text as text
    from contact_lists l where l.store_id = $1 and l.id = $2`,
  list: `select json_build_object('data', (select json_agg(${optOut}) from (
      select * from opt_outs where store_id = $1 order by id desc limit $2 offset $3) p),
    'page', 1, 'limit', $2::int, 'total', (select count(*) from (
      select 1 from opt_outs where store_id = $1 limit 50001) counted))::text as text`,
  create: `insert into opt_outs (store_id, id, phone, phone_key, note, source, created_at, updated_at)
    values ($1, $2, $3, $3, $4, 'manual', $5, $5) on conflict (store_id, phone_key) do nothing
    returning ${optOut}::text as text`,
}

export interface Clients {
  query<Row>(text: string, parameters: unknown[]): Promise<Row[]>
  close(): Promise<void>
}

/** The fastest setup of postgres.js: single-connection clients used round-robin, with prepared statements. */
export function openClients(url: string, count: number): Clients {
  const clients = Array.from({ length: count }, () =>
    postgres(url, { max: 1, connection: { plan_cache_mode: 'force_generic_plan' }, onnotice: () => {} }),
  )
  let next = 0
  return {
    query<Row>(text: string, parameters: unknown[]) {
      next = (next + 1) % count
      return clients[next]!.unsafe(text, parameters as never[], { prepare: true }) as unknown as Promise<
        Row[]
      >
    },
    async close() {
      await Promise.all(clients.map((client) => client.end({ timeout: 1 })))
    },
  }
}

export const toEtag = (body: string): string => `"${hash('sha1', body, 'base64url')}"`
