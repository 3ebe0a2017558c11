/**
 * Sandbox email provider without network. It has one list, `sandbox-main`, whose members are rows of our database. An
 * address that begins with `unsub` has unsubscribed, an address that begins with `invalid` is refused. In mode `down`
 * (table `sandbox_modes`, port `mailingList`) every call fails.
 */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '#db/tables'
import type { Clock } from '#runtime/clock'
import { AccessLost, Refused, Unavailable } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import { emailKey } from '#runtime/values/email'
import {
  checkLists,
  type MailingListPerson,
  type MailingListPort,
  maxPeoplePerCall,
  type PushedPerson,
} from './port.ts'

export const sandboxList = { id: 'sandbox-main', name: 'Main list' }
const kind = 'mailing-list-member'

interface Options {
  db: Kysely<Tables>
  clock: Clock
}

/** A stored member. `leftAt` is when they unsubscribed at the provider or were removed by `unsubscribe`. */
interface Member extends Required<Omit<MailingListPerson, 'isBack'>> {
  leftAt?: string | null
  /** True if the member unsubscribed at the provider. A new consent given to us does not undo that. */
  isGone?: boolean
}

export function sandboxMailingList(options: Options): MailingListPort {
  const port: MailingListPort = {
    check: (store, listId) => checkLists(port, store, listId),
    async unsubscribe(store, listId, emails) {
      await open(options, store)
      requireList(listId)
      const { rows } = await sql<{ id: string }>`
        update sandbox_objects set data = data || ${JSON.stringify({ leftAt: options.clock.now() })}::jsonb
        where store_id = ${store.id}::uuid and kind = ${kind} and data->>'leftAt' is null
          and id = any(${emails.map(emailKey)}::text[])
        returning id`.execute(options.db)
      const removed = new Set(rows.map(({ id }) => id))
      return emails.filter((email) => removed.has(emailKey(email)))
    },
    async *unsubscribedSince(store, listId, since) {
      await open(options, store)
      requireList(listId)
      const { rows } = await sql<{ email: string }>`
        select data->>'email' as email from sandbox_objects
        where store_id = ${store.id}::uuid and kind = ${kind}
          and (data->>'leftAt')::timestamptz >= ${since}::timestamptz order by id`.execute(options.db)
      if (rows.length > 0) yield rows.map(({ email }) => email)
    },
    async lists(store) {
      await open(options, store)
      return [sandboxList]
    },
    async upsertSubscribers(store, listId, people) {
      await open(options, store)
      requireList(listId)
      if (people.length > maxPeoplePerCall) {
        throw new Refused('too-many', `The email provider takes ${maxPeoplePerCall} people at once`)
      }
      const unsubscribed = await findUnsubscribed(options, store, people)
      const refusalOf = (person: MailingListPerson) =>
        findRule(person) ?? (staysOut(unsubscribed.get(toKey(person)), person) ? 'unsubscribed' : null)
      const accepted = people.filter((person) => refusalOf(person) === null)
      const added = await write(options, store, new Map(accepted.map((person) => [toKey(person), person])))
      return people.map((person): PushedPerson => {
        const status = refusalOf(person) ?? (added.has(toKey(person)) ? 'added' : 'updated')
        return { email: person.email, status }
      })
    },
  }
  return port
}

function requireList(listId: string): void {
  if (listId !== sandboxList.id) {
    throw new Refused('no-such-list', `The email provider has no list ${listId}`)
  }
}

async function findUnsubscribed(
  { db }: Options,
  store: ProviderStore,
  people: readonly MailingListPerson[],
): Promise<Map<string, 'gone' | 'taken off'>> {
  const { rows } = await sql<{ id: string; is_gone: boolean }>`
    select id, coalesce((data->>'isGone')::boolean, false) as is_gone from sandbox_objects where store_id = ${store.id}::uuid and kind = ${kind}
      and data->>'leftAt' is not null and id = any(${people.map(toKey)}::text[])`.execute(db)
  return new Map(rows.map((row) => [row.id, row.is_gone ? 'gone' : 'taken off']))
}

const staysOut = (left: 'gone' | 'taken off' | undefined, { isBack }: MailingListPerson): boolean =>
  left === 'gone' || (left === 'taken off' && !isBack)

/** Simulates a person who unsubscribes at the provider. */
export async function unsubscribeFromSandboxList(
  db: Kysely<Tables>,
  storeId: string,
  email: string,
  at: Date,
): Promise<void> {
  await sql`update sandbox_objects set data = data || ${JSON.stringify({ leftAt: at, isGone: true })}::jsonb
    where store_id = ${storeId}::uuid and kind = ${kind} and id = ${emailKey(email)}`.execute(db)
}

/** All people whom a store has pushed and who are still on the list, by email. */
export async function sandboxMembers(
  db: Kysely<Tables>,
  storeId: string,
): Promise<Required<Omit<MailingListPerson, 'isBack'>>[]> {
  const rows = await db
    .selectFrom('sandbox_objects')
    .select('data')
    .where('store_id', '=', storeId)
    .where('kind', '=', kind)
    .orderBy('id')
    .execute()
  return rows
    .map((row) => row.data as Member)
    .filter(({ leftAt }) => !leftAt)
    .map(({ email, name, phone, tags }) => ({ email, name, phone, tags }))
}

async function open({ db }: Options, store: ProviderStore): Promise<void> {
  const down = await db
    .selectFrom('sandbox_modes')
    .select('mode')
    .where('store_id', '=', store.id)
    .where('port', '=', 'mailingList')
    .where('mode', '=', 'down')
    .executeTakeFirst()
  if (down) throw new Unavailable('no', 'The sandbox email provider is down')
  const { apiKey } = (store.credentials ?? {}) as { apiKey?: unknown }
  if (apiKey === 'invalid') {
    throw new AccessLost(
      'list-key-refused',
      'The email provider does not take the credentials',
      'Connect the store with a key that is not invalid',
    )
  }
}

function findRule({ email }: MailingListPerson): 'unsubscribed' | 'invalid' | null {
  const address = emailKey(email)
  if (address.startsWith('invalid')) return 'invalid'
  return address.startsWith('unsub') ? 'unsubscribed' : null
}

const toKey = ({ email }: MailingListPerson): string => emailKey(email)

/** Writes members and returns the keys of those that are new. */
async function write(
  { db, clock }: Options,
  store: ProviderStore,
  people: ReadonlyMap<string, MailingListPerson>,
): Promise<Set<string>> {
  if (people.size === 0) return new Set()
  const rows = [...people].map(([id, { email, name, phone, tags = [] }]) => ({
    id,
    data: { email, name, phone, tags, leftAt: null },
  }))
  const { rows: written } = await sql<{ id: string; is_new: boolean }>`
    insert into sandbox_objects (store_id, kind, id, data, updated_at)
    select ${store.id}::uuid, ${kind}::text, r.id, r.data, ${clock.now()}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(id text, data jsonb)
    on conflict (store_id, kind, id) do update set updated_at = excluded.updated_at,
      data = excluded.data || jsonb_build_object('tags', (
        select coalesce(jsonb_agg(distinct tag), '[]')
        from jsonb_array_elements((sandbox_objects.data->'tags') || (excluded.data->'tags')) as tag))
    returning id, xmax = 0 as is_new`.execute(db)
  return new Set(written.filter((row) => row.is_new).map((row) => row.id))
}
