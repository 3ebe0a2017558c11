/** Contact lists of the demo, with their imports and contacts. */

import type { RootDatabase } from '#db/database'
import { minuteMs } from '#runtime/durations'
import { idFromName } from '#runtime/values/ids'
import { phoneKey } from '#runtime/values/phone'
import type { DemoStore } from './demo-store.ts'
import { type Customer, type CustomerGroups, listBuiltDaysAgo, listSyncedDaysAgo } from './order-plan.ts'
import { brazilian, type Person } from './people.ts'
import { Random } from './random.ts'
import { insertRows, type SeedRow } from './rows.ts'
import type { Subscriber } from './subscribers.ts'

export type Contact = SeedRow<'list_contacts'>

export interface DemoList {
  id: string
  name: string
  /** Oldest first. */
  contacts: Contact[]
}

interface NewList extends Partial<SeedRow<'contact_lists'>> {
  name: string
  source: 'manual' | 'ecomplatform' | 'csv' | 'newsletter'
  created_at: Date
  imports?: (Partial<SeedRow<'list_imports'>> & { at: Date })[]
  contacts: {
    person: Pick<Person, 'name' | 'phone'> & { email: string | null }
    at: Date
    platform_customer_id?: string
    custom_fields?: Record<string, string>
  }[]
}

export type AuroraLists = Record<'regulars' | 'fair' | 'popup' | 'vip', DemoList>

const cities = ['São Paulo', 'Campinas', 'Santos', 'Curitiba', 'Belo Horizonte', 'Florianópolis']

/** Regulars (platform), the fair (CSV), subscribers (newsletter) and VIP (by hand). */
export async function seedAuroraLists(
  db: RootDatabase,
  store: DemoStore,
  groups: CustomerGroups,
  subscribers: Subscriber[],
): Promise<AuroraLists> {
  const { timeline } = store
  const vip = groups.veterans.slice(20, 32).map((person, n) => ({ person, at: timeline.ago(150 - n * 9) }))
  return {
    regulars: await saveList(db, store, planRegulars(store, groups)),
    fair: await saveList(db, store, planFair(store, groups)),
    popup: await saveList(db, store, planPopup(subscribers)),
    vip: await saveList(db, store, {
      name: 'VIP',
      source: 'manual',
      created_at: timeline.ago(150),
      contacts: vip,
    }),
  }
}

/** Customers with four orders, except those whose fourth order came after the last sync. */
function planRegulars({ timeline }: DemoStore, { veterans, regulars }: CustomerGroups): NewList {
  const [built, grown, synced] = [
    timeline.ago(listBuiltDaysAgo),
    timeline.ago(21),
    timeline.ago(listSyncedDaysAgo),
  ]
  const syncedAt = new Date(synced.getTime() + 2000)
  const contact = (at: Date) => (person: Customer) => ({ person, at, platform_customer_id: person.id })
  return {
    name: 'Clientes recorrentes',
    source: 'ecomplatform',
    created_at: built,
    filters: { ordersMin: 4 },
    last_synced_at: syncedAt,
    updated_at: syncedAt,
    imports: [
      { at: built, added: veterans.length },
      { at: grown, added: regulars.length, unchanged: veterans.length },
      { at: synced, unchanged: veterans.length + regulars.length },
    ],
    contacts: [...veterans.map(contact(built)), ...regulars.map(contact(grown))],
  }
}

/** Eighty contacts from the fair, and three unreadable rows. */
function planFair(store: DemoStore, groups: CustomerGroups): NewList {
  const random = new Random('aurora fair')
  const at = store.timeline.ago(46)
  const visitors = Array.from({ length: 72 }, (_, index) => brazilian(random, 6301 + index))
  const spreadsheet = 'was turned into a number by the spreadsheet (5.51E+12); format the column as text'
  const errors = [
    { line: 19, reason: 'phone: is not a phone number' },
    { line: 47, reason: 'phone: is missing' },
    { line: 68, reason: `phone: ${spreadsheet}` },
  ]
  const people = random.shuffled([...visitors, ...groups.fair])
  return {
    name: 'Feira de outubro',
    source: 'csv',
    created_at: at,
    custom_field_names: ['cidade', 'cupom'],
    imports: [{ at, added: people.length, invalid: errors.length, errors }],
    contacts: people.map((person) => ({
      person,
      at,
      custom_fields: { cidade: random.pick(cities), cupom: random.pick(['FEIRA10', 'FEIRA15']) },
    })),
  }
}

/** The first sixty subscribers with consent, just after the sixtieth subscribed. */
function planPopup(subscribers: Subscriber[]): NewList {
  const reachable = subscribers
    .filter((each) => each.consent_phone && each.status === 'subscribed')
    .slice(0, 60)
  const at = new Date(reachable.at(-1)!.created_at.getTime() + minuteMs)
  return {
    name: 'Assinantes do popup',
    source: 'newsletter',
    created_at: at,
    filters: {},
    imports: [{ at, added: reachable.length }],
    contacts: reachable.map(({ name, email, phone }) => ({
      person: { name: name!, email: email ?? null, phone: phone! },
      at,
    })),
  }
}

async function saveList(
  db: RootDatabase,
  store: DemoStore,
  { imports = [], contacts: people, ...list }: NewList,
): Promise<DemoList> {
  const { name, source, created_at } = list
  const id = idFromName(`list ${store.slug} ${name}`, created_at.getTime())
  // Contacts added together keep their order: each id is a millisecond after the one before.
  const contacts = people.map(
    ({ person, at, custom_fields = {}, platform_customer_id = null }, n): Contact => {
      const { phone, email } = person
      const times = { created_at: at, updated_at: at }
      return {
        id: idFromName(`contact ${id} ${phone}`, at.getTime() + n),
        ...{ list_id: id, phone, phone_key: phoneKey(phone), name: person.name, email },
        ...{ custom_fields, source, platform_customer_id, ...times },
      }
    },
  )
  const updated_at = contacts.at(-1)!.created_at
  await insertRows(db, 'contact_lists', store.id, [{ updated_at, ...list, id, size: contacts.length }])
  await insertRows(db, 'list_contacts', store.id, contacts)
  const runs = imports.map(({ at, added = 0, unchanged = 0, invalid = 0, errors = [] }) => {
    const processed = added + unchanged + invalid
    const finished_at = new Date(at.getTime() + 2000)
    return {
      id: idFromName(`import ${id} ${added} ${unchanged}`, at.getTime()),
      ...{
        list_id: id,
        kind: source,
        status: 'completed',
        total: processed,
        processed,
        added,
        unchanged,
        invalid,
      },
      ...{ errors, user_id: store.people.marco ?? null },
      ...{ started_at: at, finished_at, created_at: at, updated_at: finished_at },
    }
  })
  await insertRows(db, 'list_imports', store.id, runs)
  store.names.set(`list:${name}`, id)
  return { id, name, contacts }
}
