/** Aurora Supply and Borealis Goods: people, plans, branding, invitations and connections. */

import type { Database, RootDatabase } from '#db/database'
import { addMember } from '#operations/store/profile/stores'
import { invitationToken } from '#operations/store/team/invitations'
import type { Services } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import type { Role } from '#runtime/roles'
import type { SecretKeys } from '#runtime/secrets'
import { idFromName, sha256 } from '#runtime/values/ids'
import { createStore } from '#scripts/admin/create-store'
import { type PaidTerms, seedSubscription } from './billing.ts'
import stores from './data/stores.json' with { type: 'json' }
import { resolvePlaceholders } from './data.ts'
import type { DemoStore } from './demo-store.ts'
import { insertRows } from './rows.ts'
import { Timeline } from './timeline.ts'

interface Member {
  key: string
  name: string
  email: string
  role: Role
  joinedDaysAgo: number
}

interface Profile
  extends Pick<DemoStore, 'slug' | 'name' | 'domain' | 'country' | 'currency' | 'locale' | 'plan'> {
  timezone: string
  joinedDaysAgo: number
  /** The owner first. */
  members: Member[]
  terms: PaidTerms
  /** Columns of its row. */
  columns: object
  agency?: { name: string; branding: object }
  invitations: { email: string; role: Role; daysAgo: number }[]
  connections: { port: string; settings: object; daysAgo: number }[]
}

const [aurora, borealis] = stores as [Profile, Profile]
export const auroraPeople = aurora.members
export const borealisPeople = borealis.members
/** The slug and domain of each demo store, which must be unique among stores. */
export const demoStores = [aurora, borealis].map(({ slug, domain }) => ({ slug, domain }))

/** Returns Aurora and Borealis. Existing rows stay unchanged. */
export const seedStores = (services: Services, now: Date): Promise<DemoStore[]> =>
  [aurora, borealis].reduce<Promise<DemoStore[]>>(
    async (before, profile) => [...(await before), await seedStore(services, now, profile)],
    Promise.resolve([]),
  )

async function seedStore({ database, settings }: Services, now: Date, profile: Profile): Promise<DemoStore> {
  const { root } = database
  const { columns, agency, invitations, connections, terms } = profile
  const store = await makeStore(database, `${settings.publicUrl}/sandbox/pictures`, now, profile)
  const { timeline } = store
  await seedSubscription(root, store, terms)
  const own = { ...columns, ...(agency ? { agency_id: await ensureAgency(root, store, agency) } : {}) }
  const change = Object.entries(resolvePlaceholders(store, own) as object).map(([name, value]) => [
    name,
    name === 'preferences' || name === 'onboarding' ? JSON.stringify(value) : value,
  ])
  if (change.length > 0) {
    await root.updateTable('stores').set(Object.fromEntries(change)).where('id', '=', store.id).execute()
  }
  await insertRows(
    root,
    'invitations',
    store.id,
    invitations.map(({ daysAgo, ...whose }) => invitation(store, settings, whose, timeline.ago(daysAgo))),
  )
  const connected = connections.map(({ daysAgo, ...connection }) => {
    const at = timeline.ago(daysAgo)
    return { ...connection, provider: 'sandbox', connected_at: at, created_at: at, updated_at: at }
  })
  await insertRows(root, 'connections', store.id, connected)
  return store
}

/** The store and its members. Ids of people derive from their names; an existing person with the email is kept. */
async function makeStore(
  database: Database,
  pictures: string,
  now: Date,
  { members, timezone, joinedDaysAgo, ...profile }: Profile,
): Promise<DemoStore> {
  const { slug, name, domain, country, currency, locale, plan } = profile
  const { root } = database
  const timeline = new Timeline(now, timezone)
  const joined = timeline.ago(joinedDaysAgo)
  const id = idFromName(`store ${slug}`, joined.getTime())
  const users = members.map((member) => {
    const at = timeline.ago(member.joinedDaysAgo)
    const userId = idFromName(`user ${member.email}`, at.getTime())
    return { id: userId, name: member.name, email: member.email, created_at: at, updated_at: at }
  })
  await root
    .insertInto('users')
    .values(users)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const [owner, ...others] = members
  const facts = { id, slug, name, domain, country, currency, locale, plan }
  const found = await root.selectFrom('stores').select('id').where('id', '=', id).executeTakeFirst()
  if (!found) await createStore(database, joined, { ...facts, timezone, owner: owner!.email })
  const present = await root
    .selectFrom('store_people')
    .select(['user_id', 'email'])
    .where('store_id', '=', id)
    .execute()
  const userIds = new Map(present.map((each) => [each.email, each.user_id]))
  for (const { name, email, role, joinedDaysAgo } of others) {
    if (userIds.has(email)) continue
    const member = { storeId: id, email, name, role }
    const added = await root.transaction().execute((db) => addMember(db, timeline.ago(joinedDaysAgo), member))
    userIds.set(email, added)
  }
  const people = Object.fromEntries(members.map(({ key, email }) => [key, userIds.get(email)!]))
  const names = new Map(Object.entries(people).map(([key, userId]) => [`person:${key}`, userId]))
  return { ...facts, ownerEmail: owner!.email, timeline, people, pictures, names, files: new Map() }
}

async function ensureAgency(
  root: RootDatabase,
  store: DemoStore,
  agency: { name: string; branding: object },
) {
  const { name } = agency
  const at = store.timeline.ago(500)
  const branding = JSON.stringify(resolvePlaceholders(store, agency.branding))
  const id = idFromName(`agency ${name}`, at.getTime())
  const kept = await root
    .insertInto('agencies')
    .values({ id, name, branding, created_at: at, updated_at: at })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ name }))
    .returning('id')
    .executeTakeFirstOrThrow()
  return kept.id
}

/** The link is valid for seven days; its email is not sent. */
function invitation(store: DemoStore, keys: SecretKeys, whose: { email: string; role: Role }, at: Date) {
  const id = idFromName(`invitation ${store.slug} ${whose.email}`, at.getTime())
  return {
    id,
    ...whose,
    status: 'pending',
    token_hash: sha256(invitationToken(keys, id)),
    invited_by: Object.values(store.people)[0]!,
    expires_at: new Date(at.getTime() + 7 * dayMs),
    created_at: at,
    updated_at: at,
  }
}
