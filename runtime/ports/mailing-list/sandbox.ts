/**
 * The email provider that needs no network: one list, `sandbox-main`, whose members are rows of our own database.
 * Addresses that begin with `unsub` have left, those that begin with `invalid` are none. In mode `down` (table
 * `sandbox_modes`, port `mailingList`) no call is answered.
 */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '#db/tables'
import { emailKey } from '#runtime/values/email'
import type { Clock } from '../../clock.ts'
import { Refused, Unavailable } from '../errors.ts'
import type { ProviderStore } from '../provider.ts'
import { type MailingListPerson, type MailingListPort, type PushedPerson, peopleAtOnce } from './port.ts'

export const sandboxList = { id: 'sandbox-main', name: 'Main list' }
const kind = 'mailing-list-member'

interface Options {
  db: Kysely<Tables>
  clock: Clock
}

export function sandboxMailingList(options: Options): MailingListPort {
  return {
    async lists(store) {
      await open(options, store)
      return [sandboxList]
    },
    async upsertSubscribers(store, listId, people) {
      await open(options, store)
      if (listId !== sandboxList.id) {
        throw new Refused('no-such-list', `The email provider has no list ${listId}`)
      }
      if (people.length > peopleAtOnce) {
        throw new Refused('too-many', `The email provider takes ${peopleAtOnce} people at once`)
      }
      const taken = people.filter((person) => refusalOf(person) === null)
      const added = await write(options, store, new Map(taken.map((person) => [keyOf(person), person])))
      return people.map((person): PushedPerson => {
        const status = refusalOf(person) ?? (added.has(keyOf(person)) ? 'added' : 'updated')
        return { email: person.email, status }
      })
    },
  }
}

/** Everybody that a store has pushed, by email. */
export async function sandboxMembers(
  db: Kysely<Tables>,
  storeId: string,
): Promise<Required<MailingListPerson>[]> {
  const rows = await db
    .selectFrom('sandbox_objects')
    .select('data')
    .where('store_id', '=', storeId)
    .where('kind', '=', kind)
    .orderBy('id')
    .execute()
  return rows.map((row) => row.data as Required<MailingListPerson>)
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
  if (apiKey === 'invalid') throw new Unavailable('no', 'The email provider does not take the credentials')
}

function refusalOf({ email }: MailingListPerson): 'unsubscribed' | 'invalid' | null {
  const address = emailKey(email)
  if (address.startsWith('invalid')) return 'invalid'
  return address.startsWith('unsub') ? 'unsubscribed' : null
}

const keyOf = ({ email }: MailingListPerson): string => emailKey(email)

/** Answers the keys of those who are new. */
async function write(
  { db, clock }: Options,
  store: ProviderStore,
  people: ReadonlyMap<string, MailingListPerson>,
): Promise<Set<string>> {
  if (people.size === 0) return new Set()
  const rows = [...people].map(([id, { email, name, phone, tags = [] }]) => ({
    id,
    data: { email, name, phone, tags },
  }))
  const { rows: written } = await sql<{ id: string; is_new: boolean }>`
    insert into sandbox_objects (store_id, kind, id, data, updated_at)
    select ${store.id}::uuid, ${kind}::text, r.id, r.data, ${clock.now()}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(id text, data jsonb)
    on conflict (store_id, kind, id) do update set data = excluded.data, updated_at = excluded.updated_at
    returning id, xmax = 0 as is_new`.execute(db)
  return new Set(written.filter((row) => row.is_new).map((row) => row.id))
}
