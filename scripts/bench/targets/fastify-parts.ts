/** The Fastify peer's SQL and schemas: the same rows as the gateway answers, as columns. */
const text = { type: 'string' }
const maybeText = { type: 'string', nullable: true }
const instant = { type: 'string', format: 'date-time' }
const maybeInstant = { ...instant, nullable: true }
const maybeObject = { type: 'object', nullable: true, additionalProperties: true }
const whole = { type: 'integer' }

const answer = (properties: Record<string, unknown>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})

export const errorSchema = answer({ error: answer({ code: text, message: text }) })
export const optOut = answer({
  id: text,
  phone: text,
  note: maybeText,
  source: text,
  campaignId: maybeText,
  createdAt: instant,
  updatedAt: instant,
})
export const optOutPage = answer({
  data: { type: 'array', items: optOut },
  page: whole,
  limit: whole,
  total: whole,
})
export const optOutInput = {
  type: 'object',
  additionalProperties: false,
  required: ['phone'],
  properties: {
    phone: { type: 'string', maxLength: 40 },
    note: { type: 'string', minLength: 1, maxLength: 500 },
  },
}
export const nameInput = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: { name: { type: 'string', minLength: 1, maxLength: 120 } },
}
export const paging = {
  type: 'object',
  additionalProperties: false,
  properties: {
    page: { type: 'integer', minimum: 1, maximum: 100_000, default: 1 },
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    search: { type: 'string', minLength: 1, maxLength: 40 },
  },
}
export const contactList = answer({
  id: text,
  name: text,
  source: text,
  filters: maybeObject,
  size: whole,
  optedOut: whole,
  customFieldNames: { type: 'array', items: text },
  import: maybeObject,
  lastSyncedAt: maybeInstant,
  createdAt: instant,
  updatedAt: instant,
})

const optOutColumns = `id, phone, note, source, campaign_id as "campaignId",
  created_at as "createdAt", updated_at as "updatedAt"`

/** An object inside a row has to be JSON already, instants included. */
const iso = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

export const texts = {
  key: 'select store_id, scopes from api_keys where hash = $1 and revoked_at is null',
  read: `select l.id, l.name, l.source, l.filters, l.size,
    case when l.size < (select count(*) from opt_outs where store_id = $1)
      then (select count(*) from list_contacts c cross join lateral (
        select 1 from opt_outs o where o.store_id = $1 and o.phone_key = c.phone_key limit 1) as found
        where c.store_id = $1 and c.list_id = l.id)
      else (select count(*) from opt_outs o cross join lateral (
        select 1 from list_contacts c where c.store_id = $1 and c.list_id = l.id and c.phone_key = o.phone_key
        limit 1) as found where o.store_id = $1)
      end::int as "optedOut",
    l.custom_field_names as "customFieldNames",
    (select json_build_object('jobId', i.id, 'kind', i.kind, 'status', i.status, 'total', i.total,
        'processed', i.processed, 'added', i.added, 'updated', i.updated, 'unchanged', i.unchanged,
        'invalid', i.invalid, 'excluded', i.excluded, 'errors', i.errors, 'failureReason', i.failure_reason,
        'startedAt', ${iso('i.started_at')}, 'finishedAt', ${iso('i.finished_at')})
      from list_imports i where i.list_id = l.id and i.store_id = $1 order by i.id desc limit 1) as import,
    l.last_synced_at as "lastSyncedAt", l.created_at as "createdAt", l.updated_at as "updatedAt"
    from contact_lists l where l.store_id = $1 and l.id = $2`,
  list: `select ${optOutColumns},
      (select count(*)::int from (select 1 from opt_outs where store_id = $1 limit 50001) counted) as total
    from opt_outs where store_id = $1 order by id desc limit $2 offset $3`,
  search: `select ${optOutColumns},
      (select count(*)::int from (select 1 from opt_outs where store_id = $1 and phone like $4 limit 5001) counted) as total
    from opt_outs where store_id = $1 and phone like $4 order by id desc limit $2 offset $3`,
  rename: 'update contact_lists set name = $3, updated_at = $4 where store_id = $1 and id = $2',
  lock: 'select 1 from contact_lists where store_id = $1 and id = $2 for update',
  create: `insert into opt_outs (store_id, id, phone, phone_key, note, source, created_at, updated_at)
    values ($1, $2, $3, $4, $5, 'manual', $6, $6)
    on conflict (store_id, phone_key) do nothing returning ${optOutColumns}`,
}
