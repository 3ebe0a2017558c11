/** Aurora Supply and Borealis Goods: their people, plans, branding, invitations and connections. */
import type { Database, RootDatabase } from '#db/database'
import { addMember } from '#operations/store/profile/stores'
import { addPeriod, periodAt } from '#operations/store/quota/periods'
import { tokenOf } from '#operations/store/team/invitations'
import type { Services } from '#runtime/context'
import { planOf } from '#runtime/plans'
import { monthsOf } from '#runtime/ports/billing/reason'
import type { Role } from '#runtime/roles'
import type { SecretKeys } from '#runtime/secrets'
import type { Settings } from '#runtime/server/settings'
import { namedId, sha256 } from '#runtime/values/ids'
import { createStore } from '#scripts/admin/create-store'
import { demoCard, type PaidTerms, seedPayments } from './billing.ts'
import type { StoredFile } from './media.ts'
import { insertRows } from './rows.ts'
import { dayMs, Timeline } from './timeline.ts'

export interface DemoStore {
  id: string
  slug: string
  name: string
  domain: string
  country: string
  ownerEmail: string
  timeline: Timeline
  /** Ids of its people by first name. */
  people: Record<string, string>
  /** Where its platform keeps the pictures of what it sells. */
  pictures: string
  /** Ids and addresses by what the data calls them, as `template:cart_coupon`. */
  names: Map<string, string | number>
  /** What its people uploaded, by name. */
  files: Map<string, StoredFile>
}

interface Member {
  key: string
  name: string
  email: string
  role: Role
  joinedDaysAgo: number
}

interface Profile {
  slug: string
  name: string
  domain: string
  country: string
  currency: string
  timezone: string
  locale: string
  plan: string
  joinedDaysAgo: number
  /** The owner first. */
  members: Member[]
}

export const auroraPeople: Member[] = [
  { key: 'olivia', name: 'Olivia Prado', email: 'olivia@aurora.example', role: 'owner', joinedDaysAgo: 420 },
  { key: 'marco', name: 'Marco Teles', email: 'marco@aurora.example', role: 'member', joinedDaysAgo: 400 },
  { key: 'ada', name: 'Ada Nogueira', email: 'ada@aurora.example', role: 'agent', joinedDaysAgo: 210 },
]
export const borealisPeople: Member[] = [
  { key: 'bruno', name: 'Bruno Keller', email: 'bruno@borealis.example', role: 'owner', joinedDaysAgo: 110 },
]

const aurora: Profile = {
  slug: 'aurora-supply',
  name: 'Aurora Supply',
  domain: 'aurora.example',
  country: 'BR',
  currency: 'BRL',
  timezone: 'America/Sao_Paulo',
  locale: 'pt-BR',
  plan: 'scale',
  joinedDaysAgo: 420,
  members: auroraPeople,
}
const borealis: Profile = {
  slug: 'borealis-goods',
  name: 'Borealis Goods',
  domain: 'borealis.example',
  country: 'US',
  currency: 'USD',
  timezone: 'America/New_York',
  locale: 'en-US',
  plan: 'growth',
  joinedDaysAgo: 110,
  members: borealisPeople,
}

/** What no other store may have. */
export const demoStores = [aurora, borealis].map(({ slug, domain }) => ({ slug, domain }))

/** Thirteen monthly periods paid before this one, which began twelve days ago. */
const auroraPeriodsPaid = 13
const auroraPeriodDaysAgo = 12
const trialMs = 14 * dayMs

/** Aurora Supply: `scale`, monthly, with an agency, two invitations and a finished onboarding. */
export async function seedAurora({ database, settings }: Services, now: Date): Promise<DemoStore> {
  const store = await makeStore(database, settings, now, aurora)
  const { timeline } = store
  const begun = addPeriod(timeline.ago(auroraPeriodDaysAgo), -auroraPeriodsPaid)
  await setSubscription(database.root, store, {
    plan: 'scale',
    billingCycle: 'monthly',
    price: '799.00',
    currency: 'BRL',
    anchor: begun,
    periodsBefore: auroraPeriodsPaid,
    coupon: { code: 'WELCOME10', charges: 3, discount: '79.90', amount: '719.10' },
    failedPeriodsAgo: 3,
  })
  await database.root
    .updateTable('stores')
    .set({
      email: 'contato@aurora.example',
      phone: '+551140002000',
      agency_id: await agency(database.root, store),
      preferences: JSON.stringify({
        theme: { mode: 'light', density: 'comfortable' },
        dashboardPeriod: '30d',
        weekStartsOn: 'monday',
        hiddenCards: ['recent-reviews'],
      }),
      onboarding: JSON.stringify(onboardingOf(timeline)),
      onboarding_completed_at: timeline.ago(399),
      updated_at: timeline.ago(3),
    })
    .where('id', '=', store.id)
    .execute()
  await insertRows(database.root, 'invitations', store.id, [
    invitation(store, settings, 'clara@aurora.example', 'agent', timeline.ago(2)),
    invitation(store, settings, 'tiago@aurora.example', 'member', timeline.ago(35)),
  ])
  await insertRows(database.root, 'connections', store.id, [
    connection('ecommerce', {}, timeline.ago(419)),
    connection('mailingList', { listId: 'sandbox-main' }, timeline.ago(95)),
  ])
  return store
}

/** Borealis Goods: `growth`, yearly, another zone and currency. */
export async function seedBorealis({ database, settings }: Services, now: Date): Promise<DemoStore> {
  const store = await makeStore(database, settings, now, borealis)
  const { timeline } = store
  const anchor = timeline.ago(100)
  await setSubscription(database.root, store, {
    plan: 'growth',
    billingCycle: 'yearly',
    price: '490.00',
    currency: 'USD',
    anchor,
    periodsBefore: 0,
  })
  await insertRows(database.root, 'connections', store.id, [connection('ecommerce', {}, timeline.ago(109))])
  return store
}

/** The store and its members; those there already stay as they are. */
async function makeStore(
  database: Database,
  { publicUrl }: Settings,
  now: Date,
  profile: Profile,
): Promise<DemoStore> {
  const timeline = new Timeline(now, profile.timezone)
  const joined = timeline.ago(profile.joinedDaysAgo)
  const id = namedId(`store ${profile.slug}`, joined.getTime())
  await makeUsers(database.root, profile.members, timeline)
  const [owner, ...others] = profile.members
  const { root } = database
  const found = await root.selectFrom('stores').select('id').where('id', '=', id).executeTakeFirst()
  if (!found) {
    const { slug, name, domain, country, currency, timezone, locale, plan } = profile
    const made = { id, slug, name, domain, country, currency, timezone, locale, plan, owner: owner!.email }
    await createStore(database, joined, made)
  }
  const present = await root
    .selectFrom('store_people')
    .select(['user_id', 'email'])
    .where('store_id', '=', id)
    .execute()
  const userIds = new Map(present.map((each) => [each.email, each.user_id]))
  for (const { name, email, role, joinedDaysAgo } of others) {
    if (userIds.has(email)) continue
    const userId = await root
      .transaction()
      .execute((transaction) =>
        addMember(transaction, timeline.ago(joinedDaysAgo), { storeId: id, email, name, role }),
      )
    userIds.set(email, userId)
  }
  const people = Object.fromEntries(profile.members.map(({ key, email }) => [key, userIds.get(email)!]))
  const { slug, name, domain, country } = profile
  const pictures = `${publicUrl}/sandbox/pictures`
  return {
    id,
    slug,
    name,
    domain,
    country,
    ownerEmail: owner!.email,
    timeline,
    people,
    pictures,
    names: new Map(Object.entries(people).map(([key, userId]) => [`person:${key}`, userId])),
    files: new Map(),
  }
}

/** People have ids of their own names; whoever has that email already stays who they are. */
async function makeUsers(root: RootDatabase, members: Member[], timeline: Timeline): Promise<void> {
  const rows = members.map(({ name, email, joinedDaysAgo }) => {
    const joined = timeline.ago(joinedDaysAgo)
    return {
      id: namedId(`user ${email}`, joined.getTime()),
      name,
      email,
      created_at: joined,
      updated_at: joined,
    }
  })
  await root
    .insertInto('users')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** What was agreed to and paid with a card, and the message cycle that holds now. */
async function setSubscription(root: RootDatabase, store: DemoStore, terms: PaidTerms): Promise<void> {
  const { now } = store.timeline
  const months = monthsOf(terms.billingCycle)
  const start = addPeriod(terms.anchor, terms.periodsBefore * months)
  const end = addPeriod(terms.anchor, (terms.periodsBefore + 1) * months)
  const agreementId = await seedPayments(root, store, terms)
  const cycle = periodAt(terms.anchor, now)
  const { created_at: created } = await root
    .selectFrom('subscriptions')
    .select('created_at')
    .where('store_id', '=', store.id)
    .executeTakeFirstOrThrow()
  await root
    .updateTable('subscriptions')
    .set({
      plan_id: terms.plan,
      status: 'active',
      billing_cycle: terms.billingCycle,
      price: terms.price,
      currency: terms.currency,
      provider: 'sandbox',
      anchor_at: terms.anchor,
      current_period_start: start,
      current_period_end: end,
      next_charge_at: end,
      next_charge_amount: terms.price,
      trial_ends_at: new Date(created.getTime() + trialMs),
      payment_method: JSON.stringify(demoCard(now)),
      agreement_id: agreementId,
      agreement_status: 'authorized',
      agreement_cycle: terms.billingCycle,
      agreement_amount: terms.price,
      agreement_since: terms.anchor,
      agreement_changed_at: terms.anchor,
      period_cost: terms.price,
      updated_at: start,
    })
    .where('store_id', '=', store.id)
    .execute()
  await root.deleteFrom('usage_cycles').where('store_id', '=', store.id).execute()
  await insertRows(root, 'usage_cycles', store.id, [
    {
      starts_at: cycle.start,
      ends_at: cycle.end,
      message_limit: planOf(terms.plan).messagesPerCycle,
      created_at: cycle.start,
      updated_at: now,
    },
  ])
}

async function agency(root: RootDatabase, { timeline, pictures }: DemoStore): Promise<string> {
  const name = 'Northlight Studio'
  const at = timeline.ago(500)
  const id = namedId(`agency ${name}`, at.getTime())
  const branding = {
    logoUrl: `${pictures}/sun-4.svg`,
    faviconUrl: `${pictures}/sun-4-near.svg`,
    primaryColor: '#1d4ed8',
    secondaryColor: '#f59e0b',
    supportEmail: 'help@northlight.example',
    supportPhone: '+551140003000',
    supportUrl: 'https://northlight.example/help',
    dashboardDomain: 'dashboard.northlight.example',
    hideServiceBrand: true,
  }
  const kept = await root
    .insertInto('agencies')
    .values({ id, name, branding: JSON.stringify(branding), created_at: at, updated_at: at })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ name }))
    .returning('id')
    .executeTakeFirstOrThrow()
  return kept.id
}

const onboardingOf = (timeline: Timeline) => ({
  answers: {
    goals: ['recover-carts', 'grow-contacts', 'collect-reviews'],
    industry: 'home',
    monthlyOrders: '51-200',
    hasMessagingNumber: true,
    referralSource: 'Northlight Studio',
    notes: null,
  },
  answersSavedAt: timeline.ago(419),
  activatedFeatures: ['automations', 'newsletter', 'contact-form', 'reviews', 'inbox'],
  featuresActivatedAt: timeline.ago(399),
})

/** Seven days from then on its link opens; the email with it is not sent. */
function invitation(store: DemoStore, keys: SecretKeys, email: string, role: Role, at: Date) {
  const id = namedId(`invitation ${store.slug} ${email}`, at.getTime())
  return {
    id,
    email,
    role,
    status: 'pending',
    token_hash: sha256(tokenOf(keys, id)),
    invited_by: store.people.olivia!,
    accepted_at: null,
    expires_at: new Date(at.getTime() + 7 * dayMs),
    created_at: at,
    updated_at: at,
  }
}

const connection = (port: string, settings: Record<string, unknown>, at: Date) => ({
  port,
  provider: 'sandbox',
  credentials: null,
  settings,
  connected_at: at,
  created_at: at,
  updated_at: at,
})
