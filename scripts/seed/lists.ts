/** Contact lists of the demo, with their imports and contacts. */
import type { RootDatabase } from '#db/database'
import { namedId } from '#runtime/values/ids'
import { phoneKey } from '#runtime/values/phone'
import { type Customer, type CustomerGroups, listBuiltDaysAgo, listSyncedDaysAgo } from './order-plan.ts'
import { brazilian, type Person } from './people.ts'
import { Random } from './random.ts'
import { insertRows, type SeedRow } from './rows.ts'
import type { DemoStore } from './store.ts'
import type { Subscriber } from './subscribers.ts'
import { minuteMs } from './timeline.ts'

export type Contact = SeedRow<'list_contacts'>

export interface DemoList {
  id: string
  name: string
  /** Oldest first. */
  contacts: Contact[]
}

type Import = Pick<SeedRow<'list_imports'>, 'kind'> &
  Partial<Pick<SeedRow<'list_imports'>, 'added' | 'unchanged' | 'invalid' | 'errors' | 'options'>> & {
    at: Date
  }

interface NewList {
  name: string
  source: 'manual' | 'ecomplatform' | 'csv' | 'newsletter'
  createdAt: Date
  filters?: object
  imports?: Import[]
  lastSyncedAt?: Date
  contacts: ContactInput[]
}

interface ContactInput {
  person: Pick<Person, 'name' | 'phone'> & { email: string | null }
  at: Date
  customerId?: string
  customFields?: Record<string, string>
}

export interface AuroraLists {
  regulars: DemoList
  fair: DemoList
  popup: DemoList
  vip: DemoList
}

const cities = ['São Paulo', 'Campinas', 'Santos', 'Curitiba', 'Belo Horizonte', 'Florianópolis']
const visitorsOfTheFair = 72

/** Regulars (platform), the fair (CSV), subscribers (newsletter) and VIP (by hand). */
export async function seedAuroraLists(
  db: RootDatabase,
  store: DemoStore,
  groups: CustomerGroups,
  subscribers: Subscriber[],
): Promise<AuroraLists> {
  const { timeline } = store
  const lists = {
    regulars: regularsOf(store, groups),
    fair: fairOf(store, groups),
    popup: popupOf(subscribers),
    vip: {
      name: 'VIP',
      source: 'manual' as const,
      createdAt: timeline.ago(150),
      contacts: groups.veterans.slice(20, 32).map((customer, index) => ({
        person: customer,
        at: timeline.ago(150 - index * 9),
      })),
    },
  }
  return {
    regulars: await saveList(db, store, lists.regulars),
    fair: await saveList(db, store, lists.fair),
    popup: await saveList(db, store, lists.popup),
    vip: await saveList(db, store, lists.vip),
  }
}

/** Who ordered four times: all who match but those whose fourth order came after the last sync. */
function regularsOf(store: DemoStore, groups: CustomerGroups): NewList {
  const { timeline } = store
  const built = timeline.ago(listBuiltDaysAgo)
  const grown = timeline.ago(21)
  const synced = timeline.ago(listSyncedDaysAgo)
  const contact = (at: Date) => (customer: Customer) => ({ person: customer, at, customerId: customer.id })
  const { veterans, regulars } = groups
  return {
    name: 'Clientes recorrentes',
    source: 'ecomplatform',
    createdAt: built,
    filters: { ordersMin: 4 },
    lastSyncedAt: new Date(synced.getTime() + 2000),
    imports: [
      { kind: 'ecomplatform', at: built, added: veterans.length },
      { kind: 'ecomplatform', at: grown, added: regulars.length, unchanged: veterans.length },
      { kind: 'ecomplatform', at: synced, unchanged: veterans.length + regulars.length },
    ],
    contacts: [...veterans.map(contact(built)), ...regulars.map(contact(grown))],
  }
}

/** Eighty who left their phone at the fair, and three rows that could not be read. */
function fairOf(store: DemoStore, groups: CustomerGroups): NewList {
  const random = new Random('aurora fair')
  const at = store.timeline.ago(46)
  const visitors = Array.from({ length: visitorsOfTheFair }, (_, index) => brazilian(random, 6301 + index))
  const errors = [
    { line: 19, reason: 'phone: is not a phone number' },
    { line: 47, reason: 'phone: is missing' },
    {
      line: 68,
      reason: 'phone: was turned into a number by the spreadsheet (5.51E+12); format the column as text',
    },
  ]
  return {
    name: 'Feira de outubro',
    source: 'csv',
    createdAt: at,
    imports: [
      { kind: 'csv', at, added: visitors.length + groups.fair.length, invalid: errors.length, errors },
    ],
    contacts: random.shuffled([...visitors, ...groups.fair]).map((person) => ({
      person,
      at,
      customFields: { cidade: random.pick(cities), cupom: random.pick(['FEIRA10', 'FEIRA15']) },
    })),
  }
}

/** The first sixty subscribers who may be written to, just after the sixtieth came. */
function popupOf(subscribers: Subscriber[]): NewList {
  const reachable = subscribers
    .filter((each) => each.consent_phone && each.status === 'subscribed')
    .slice(0, 60)
  const at = new Date(reachable.at(-1)!.created_at.getTime() + minuteMs)
  return {
    name: 'Assinantes do popup',
    source: 'newsletter',
    createdAt: at,
    filters: {},
    imports: [{ kind: 'newsletter', at, added: reachable.length }],
    contacts: reachable.map(({ name, email, phone }) => ({
      person: { name: name!, email: email ?? null, phone: phone! },
      at,
    })),
  }
}

/** Three by hand, one with the phone of somebody whom Aurora knows. */
export async function seedBorealisList(
  db: RootDatabase,
  store: DemoStore,
  shared: Pick<Person, 'name' | 'phone'>,
  customers: Person[],
): Promise<DemoList> {
  const people = [...customers.slice(0, 2), { ...shared, email: null }]
  return saveList(db, store, {
    name: 'Wholesale',
    source: 'manual',
    createdAt: store.timeline.ago(60),
    contacts: people.map((person, index) => ({ person, at: store.timeline.ago(59 - index) })),
  })
}

async function saveList(db: RootDatabase, store: DemoStore, list: NewList): Promise<DemoList> {
  const { name, source, createdAt, imports = [], lastSyncedAt = null } = list
  const id = namedId(`list ${store.slug} ${name}`, createdAt.getTime())
  const contacts = list.contacts.map((contact, index) => contactRow(id, source, contact, index))
  const customFieldNames = [
    ...new Set(list.contacts.flatMap(({ customFields = {} }) => Object.keys(customFields))),
  ]
  await insertRows(db, 'contact_lists', store.id, [
    {
      id,
      name,
      source,
      filters: list.filters ?? null,
      size: contacts.length,
      custom_field_names: customFieldNames,
      last_synced_at: lastSyncedAt,
      created_at: createdAt,
      updated_at: lastSyncedAt ?? contacts.at(-1)!.created_at,
    },
  ])
  await insertRows(db, 'list_contacts', store.id, contacts)
  await insertRows(
    db,
    'list_imports',
    store.id,
    imports.map((each) => importRow(id, store.people.marco ?? null, each)),
  )
  store.names.set(`list:${name}`, id)
  return { id, name, contacts }
}

/** Those added at one time keep their order: each id is a millisecond after the one before. */
function contactRow(
  listId: string,
  source: string,
  { person, at, ...contact }: ContactInput,
  index: number,
): Contact {
  return {
    id: namedId(`contact ${listId} ${person.phone}`, at.getTime() + index),
    list_id: listId,
    phone: person.phone,
    phone_key: phoneKey(person.phone),
    name: person.name,
    email: person.email,
    custom_fields: contact.customFields ?? {},
    source,
    platform_customer_id: contact.customerId ?? null,
    created_at: at,
    updated_at: at,
  }
}

function importRow(listId: string, userId: string | null, run: Import): SeedRow<'list_imports'> {
  const { kind, at, added = 0, unchanged = 0, invalid = 0, errors = [] } = run
  const processed = added + unchanged + invalid
  return {
    id: namedId(`import ${listId} ${added} ${unchanged}`, at.getTime()),
    list_id: listId,
    kind,
    status: 'completed',
    options: {},
    cursor: null,
    total: processed,
    processed,
    added,
    updated: 0,
    unchanged,
    invalid,
    excluded: 0,
    errors,
    failure_reason: null,
    user_id: userId,
    started_at: at,
    finished_at: new Date(at.getTime() + 2000),
    created_at: at,
    updated_at: new Date(at.getTime() + 2000),
  }
}
