/** Seeds a person into every table that can store one; rows are generated from the database's schema. */
import { randomUUID } from 'node:crypto'
import type { TestApp } from '#test/support/app'

export interface Person {
  email: string
  phone: string
  name: string
  customerId: string
  orderId: string
}

interface Column {
  name: string
  type: string
  isRequired: boolean
}
interface Parent {
  table: string
  columns: Record<string, string>
}
export interface TableDescription {
  columns: Column[]
  parents: Parent[]
  key: string[]
  isOfStore: boolean
}

/** All our tables, by name. */
export async function describeTables({ database }: TestApp): Promise<Map<string, TableDescription>> {
  const columns = await database.query<{
    table: string
    name: string
    type: string
    required: boolean
  }>(
    `select c.table_name as table, c.column_name as name, c.data_type as type,
       c.is_nullable = 'NO' and c.column_default is null and c.is_identity = 'NO' as required
     from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where t.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.is_generated = 'NEVER'
     order by c.table_name, c.ordinal_position`,
    [],
  )
  const constraints = await database.query<{
    table: string
    kind: string
    refers: string | null
    columns: string[]
    referred: string[] | null
  }>(
    `select c.conrelid::regclass::text as table, c.contype::text as kind,
       case when c.contype = 'f' then c.confrelid::regclass::text end as refers,
       array(select a.attname::text from unnest(c.conkey) with ordinality k(n, i)
         join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.n order by k.i) as columns,
       array(select a.attname::text from unnest(c.confkey) with ordinality k(n, i)
         join pg_attribute a on a.attrelid = c.confrelid and a.attnum = k.n order by k.i) as referred
     from pg_constraint c join pg_class r on r.oid = c.conrelid
     where c.contype in ('p', 'f') and r.relnamespace = 'public'::regnamespace`,
    [],
  )
  const tables = new Map<string, TableDescription>()
  for (const { table, name, type, required } of columns) {
    const known = tables.get(table) ?? { columns: [], parents: [], key: [], isOfStore: false }
    known.columns.push({ name, type, isRequired: required })
    known.isOfStore ||= name === 'store_id'
    tables.set(table, known)
  }
  for (const { table, kind, refers, columns: own, referred } of constraints) {
    const known = tables.get(table)
    if (!known) continue
    if (kind === 'p') known.key = own
    else if (refers !== 'stores') {
      known.parents.push({
        table: refers!,
        columns: Object.fromEntries(own.map((column, i) => [column, referred![i]!])),
      })
    }
  }
  return tables
}

/** Columns that identify a person, in any table. */
const personColumn =
  /^(?:.*_)?(?:phone|phone_key|email|email_key|recipient)$|^(?:customer|contact|payer|author|given|profile|order)_(?:name|id|key)$|^customer$|^platform_customer_id$/
/** Identifying columns that only hold an id. */
const numbers = new Set(['contact_id', 'order_id', 'author_id', 'order_name_id'])

/** Tables that identify a person, and their child tables. */
export function findPersonTables(tables: ReadonlyMap<string, TableDescription>): string[] {
  const found = new Set(
    [...tables].flatMap(([table, { columns }]) =>
      columns.some(({ name }) => personColumn.test(name) && !numbers.has(name)) ? table : [],
    ),
  )
  for (const table of [
    'provider_events',
    'notifications',
    'list_imports',
    'list_import_rows',
    'review_import_rows',
  ])
    found.add(table)
  for (let before = -1; before !== found.size; ) {
    before = found.size
    for (const [table, { parents }] of tables) {
      if (parents.some((parent) => found.has(parent.table))) found.add(table)
    }
  }
  return [...found].sort()
}

/** Columns with text by or about a person. */
const textColumn =
  /^(?:text|message|comment|note|title|name|search_text|words?|preview|last_message_preview|page_url|label_url|tracking_(?:code|url)|(?:status|payment)_url|(?:customer|shipping)_address|values|custom_fields|content|media|template_parameters|cells|payload|data|customer|rejection_reason|reply_text|actor_name|(?:error|failure)_message|media_file_name|filling)$/

const phoneKeyColumn = /(?:^|_)(?:phone_key|contact_key)$/

/** The value of a column for a person; undefined if it has no personal data. */
export function personValue(who: Person, { name, type }: Column): unknown {
  if (name === 'errors')
    return JSON.stringify([{ line: null, reason: `phone: is missing (customer ${who.customerId})` }])
  if (name === 'cells') return JSON.stringify([who.name, who.email, who.phone])
  if (type === 'jsonb' && (textColumn.test(name) || name === 'customer')) {
    return JSON.stringify({ name: who.name, email: who.email, phone: who.phone, id: who.customerId })
  }
  if (type === 'tsvector') return `'${who.name.toLowerCase().split(' ')[0]}'`
  if (type !== 'text') return undefined
  if (phoneKeyColumn.test(name) || /(?:^|_)phone$/.test(name)) return who.phone
  if (/(?:^|_)(?:email|email_key)$/.test(name) || name === 'recipient') return who.email
  if (name === 'customer_id' || name === 'platform_customer_id') return who.customerId
  if (name === 'order_id') return who.orderId
  if (/_name$/.test(name) && personColumn.test(name)) return who.name
  if (name === 'word') return who.name.toLowerCase().split(' ')[0]
  if (textColumn.test(name)) return `${who.name} <${who.email}> ${who.phone}`
  return undefined
}

const fillerValue = (type: string): unknown => {
  if (type === 'uuid') return randomUUID()
  if (/timestamp/.test(type)) return '2026-11-20T12:00:00Z'
  if (type === 'date') return '2026-11-20'
  if (/int|numeric|double/.test(type)) return 1
  if (type === 'boolean') return false
  if (/json/.test(type)) return '{}'
  if (type === 'ARRAY') return '{}'
  return `x-${randomUUID()}`
}

export interface SeedOptions {
  storeId: string
  who: Person
  /** Fixed values by table and column. */
  given?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** References without a foreign key: the referenced table, by table and column. */
  links?: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** Inserts one row into each table and its parents. Returns the columns with personal data, as `table.column`. */
export async function seedPeople(
  { database }: TestApp,
  tables: ReadonlyMap<string, TableDescription>,
  names: readonly string[],
  { storeId, who, given = {}, links = {} }: SeedOptions,
): Promise<Set<string>> {
  const made = new Map<string, Record<string, unknown>>()
  const filled = new Set<string>()
  async function row(table: string): Promise<Record<string, unknown>> {
    const known = made.get(table)
    if (known) return known
    const { columns, parents } = tables.get(table)!
    const values: Record<string, unknown> = {}
    for (const parent of parents) {
      if (parent.table === table) continue
      const its = await row(parent.table)
      for (const [own, theirs] of Object.entries(parent.columns)) values[own] = its[theirs]
    }
    for (const [column, of] of Object.entries(links[table] ?? {})) values[column] = (await row(of)).id
    const isOfPeople = names.includes(table)
    for (const column of columns) {
      const { name, type, isRequired } = column
      if (name in values) continue
      const fixed = given[table]?.[name]
      if (fixed !== undefined) values[name] = fixed
      else if (name === 'store_id') values[name] = storeId
      else {
        const said = isOfPeople ? personValue(who, column) : undefined
        if (said !== undefined) {
          values[name] = said
          if (name !== 'order_id') filled.add(`${table}.${name}`)
        } else if (isRequired) values[name] = fillerValue(type)
      }
    }
    const names_ = Object.keys(values)
    const marks = names_.map((name, i) => {
      const { type } = columns.find((column) => column.name === name)!
      return `$${i + 1}::${type === 'ARRAY' ? 'text' : 'text'}::${type === 'ARRAY' ? arrayType(table, name) : type}`
    })
    await database.query(
      `insert into ${table} (${names_.map((name) => `"${name}"`).join(', ')}) values (${marks.join(', ')})`,
      names_.map((name) => text(values[name])),
    )
    made.set(table, values)
    return values
  }
  for (const table of names) await row(table)
  return filled
}

const text = (value: unknown): unknown =>
  value === null || value === undefined ? null : value instanceof Date ? value.toISOString() : String(value)

const arrayType = (_table: string, name: string): string => (/units/.test(name) ? 'int[]' : 'text[]')

/** Columns (`table.column`) that contain one of these words, in rows of the store or of no store. */
export async function findOccurrences(
  { database }: TestApp,
  tables: ReadonlyMap<string, TableDescription>,
  storeId: string,
  words: readonly string[],
): Promise<Set<string>> {
  const found = new Set<string>()
  const pattern = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|')
  for (const [table, { columns, isOfStore }] of tables) {
    const looked = columns.filter(({ type }) => /text|json|tsvector|ARRAY|character/.test(type))
    if (looked.length === 0) continue
    const [row] = await database.query<Record<string, boolean>>(
      `select ${looked
        .map(({ name }) => `coalesce(bool_or("${name}"::text ~* $1), false) as "${name}"`)
        .join(', ')} from ${table}${isOfStore ? ' where store_id = $2 or store_id is null' : ''}`,
      isOfStore ? [pattern, storeId] : [pattern],
    )
    for (const [name, isThere] of Object.entries(row!)) if (isThere) found.add(`${table}.${name}`)
  }
  return found
}
