/** What other sections give to the store's: who is told of what, and what its pages, files and jobs are made of. */
import type { Context } from '#runtime/context'
import { byKey, inOrder, type Known, listsByKey, points, single, type Wrong } from '#runtime/wiring'
import type { ConversionChange, SourceType } from './conversions/attribution.ts'
import {
  type PendingPart,
  type PendingType,
  pendingTypes,
  type RecentReviews,
  type StockRequests,
} from './dashboard/home-parts.ts'
import type { ExportSource } from './files/exports.ts'
import type { Purpose } from './files/uploads.ts'
import type { Forgets } from './forgotten.ts'
import type { ConnectedPort, ConnectionKind, ServerKind, ServerPort } from './health/kinds.ts'
import type { Switch } from './onboarding/activation.ts'
import { type Evidence, stepsElsewhere } from './onboarding/onboarding.ts'
import type { OrderChange } from './orders/orders.ts'
import type { Applies, FindsStores } from './provider-events/accept.ts'
import { sourceTypes } from './sums/counted.ts'

const oneOf = (names: readonly string[], key: string): Wrong | null =>
  names.includes(key) ? null : { wrong: 'is none that is known', remedy: `one of ${names.join(', ')}` }
const ofFeature = (feature: string | null, { features }: Known): Wrong | null =>
  feature === null || features.has(feature)
    ? null
    : { wrong: `names the feature ${feature}`, remedy: `one of ${[...features].join(', ')}` }

type Told = (ctx: Context) => Promise<unknown>

const declared = points({
  /** By port and kind, as `ecommerce:order.updated`. */
  providerEvents: listsByKey<Applies>((_applies, { key }) =>
    /^[a-zA-Z]+:[a-z.-]+$/.test(key) ? null : { wrong: 'is no event', remedy: 'write port:kind' },
  ),
  /** Whose connections there are, by port. */
  connectionKinds: byKey<ConnectionKind, ConnectedPort>(),
  /** The server's own providers, by port. */
  serverKinds: byKey<ServerKind, ServerPort>(),
  /** By port. */
  unplacedEvents: byKey<FindsStores>(),
  /** By the name of the job that makes them. */
  exports: byKey<ExportSource>((_source, { key, jobs }) =>
    jobs.has(key) ? null : { wrong: 'has no job', remedy: `add jobs/${key}.ts, or name it as its job` },
  ),
  /** What may be uploaded, by the purpose: it stands in keys and addresses. */
  uploads: byKey<Purpose>((_purpose, { key }) =>
    /^[a-z][a-z0-9-]{0,59}$/.test(key)
      ? null
      : { wrong: 'is no name of a purpose', remedy: 'lower-case letters, digits and dashes' },
  ),
  /** What turns features on that the onboarding chose. */
  switches: byKey<Switch>((_switch, known) => ofFeature(known.key, known)),
  /** What shows that steps of the onboarding are done. */
  evidence: byKey<Evidence, (typeof stepsElsewhere)[number]>((_find, { key }) => oneOf(stepsElsewhere, key)),
  /** What waits for the merchant, on the home page. */
  pending: byKey<PendingPart, PendingType>(
    ({ feature }, known) => oneOf(pendingTypes, known.key) ?? ofFeature(feature, known),
  ),
  stockRequests: single<StockRequests>(({ feature }, known) => ofFeature(feature, known)),
  recentReviews: single<RecentReviews>(({ feature }, known) => ofFeature(feature, known)),
  /** What a newly connected platform brings about (a section's first sync); in the transaction that connects. */
  platformConnected: inOrder<Told>(),
  /** Somebody wants to be forgotten, in a transaction: who knows them forgets them. */
  personForgotten: inOrder<Forgets>(),
  /** A shop has left for good, in a transaction: who knows its shoppers from it forgets them. */
  shopForgotten: inOrder<Told>(),
  /** In the transaction that writes the mirror, with the orders that did change; their items are written already. */
  ordersChanged: inOrder<(ctx: Context, changes: OrderChange[]) => Promise<void>>(),
  /**
   * In the transaction in which the mirror of orders has read all that there is. `before`: when it had the last time;
   * null: never.
   */
  ordersRead: inOrder<(ctx: Context, before: Date | null) => Promise<unknown>>(),
  /** By source, in the transaction that writes the conversions, with those of it that did change. */
  conversionsChanged: listsByKey<(ctx: Context, changes: ConversionChange[]) => Promise<void>, SourceType>(
    (_told, { key }) => oneOf(sourceTypes, key),
  ),
  /** In the transaction that removes a member. */
  memberRemoved: inOrder<(ctx: Context, userId: string) => Promise<void>>(),
  /** In the transaction that selects another connection of messaging, or none. */
  connectionSelected: inOrder<Told>(),
  /** In the transaction that changes the time zone: what waits for a wall clock is judged by the new one. */
  timezoneChanged: inOrder<Told>(),
  /** In the transaction that writes plan or status of the subscription anew. */
  entitlementChanged: inOrder<Told>(),
})
export default declared

declare module '#runtime/wiring' {
  interface Points extends DeclaredByStore {}
}
type DeclaredByStore = typeof declared.declared
