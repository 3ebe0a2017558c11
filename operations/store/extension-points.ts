/** The store's extension points, where other sections register event hooks, exports, uploads and parts of pages. */
import type { Context } from '#runtime/context'
import {
  byKey,
  extensionPoints,
  inOrder,
  listsByKey,
  single,
  type ValidationContext,
  type ValidationIssue,
} from '#runtime/extensions'
import type { ConversionChange, SourceType } from './conversions/attribution.ts'
import {
  type PendingPart,
  type PendingType,
  pendingTypes,
  type RecentReviews,
  type StockRequests,
} from './dashboard/home-parts.ts'
import type { ErasureHandler } from './erasure.ts'
import type { ExportSource } from './files/exports.ts'
import type { Purpose } from './files/uploads.ts'
import type { ConnectedPort, ConnectionKind, ServerKind, ServerPort } from './health/kinds.ts'
import type { FeatureActivator } from './onboarding/activation.ts'
import { externalSteps, type StepEvidence } from './onboarding/onboarding.ts'
import type { OrderChange } from './orders/orders.ts'
import type { EventHandler, StoreResolver } from './provider-events/accept.ts'
import { sourceTypes } from './sums/revenue-rules.ts'

const checkName = (names: readonly string[], key: string): ValidationIssue | null =>
  names.includes(key) ? null : { wrong: 'is not a known name', remedy: `one of ${names.join(', ')}` }
const checkFeature = (feature: string | null, { features }: ValidationContext): ValidationIssue | null =>
  feature === null || features.has(feature)
    ? null
    : { wrong: `names the feature ${feature}`, remedy: `one of ${[...features].join(', ')}` }

type Hook = (ctx: Context) => Promise<unknown>

const declared = extensionPoints({
  /** Handlers of provider events, by port and kind of event, such as `ecommerce:order.updated`. */
  providerEvents: listsByKey<EventHandler>((_applies, { key }) =>
    /^[a-zA-Z]+:[a-z.-]+$/.test(key) ? null : { wrong: 'is no event', remedy: 'write port:kind' },
  ),
  /** The kinds of connections a store can have, by port. */
  connectionKinds: byKey<ConnectionKind, ConnectedPort>(),
  /** The server's own providers, by port. */
  serverKinds: byKey<ServerKind, ServerPort>(),
  /** Find the stores of provider events that do not name one; by port. */
  storeResolvers: byKey<StoreResolver>(),
  /** Exports, by the name of the job that makes them. */
  exports: byKey<ExportSource>((_source, { key, jobs }) =>
    jobs.has(key) ? null : { wrong: 'has no job', remedy: `add jobs/${key}.ts, or name it as its job` },
  ),
  /** Limits of uploads, by purpose. The purpose is part of storage keys and URLs. */
  uploads: byKey<Purpose>((_purpose, { key }) =>
    /^[a-z][a-z0-9-]{0,59}$/.test(key)
      ? null
      : { wrong: 'is not a valid purpose', remedy: 'lower-case letters, digits and dashes' },
  ),
  /** Turns on features chosen during the onboarding. */
  featureActivators: byKey<FeatureActivator>((_switch, known) => checkFeature(known.key, known)),
  /** Decides whether a step of the onboarding is done. */
  evidence: byKey<StepEvidence, (typeof externalSteps)[number]>((_find, { key }) =>
    checkName(externalSteps, key),
  ),
  /** Pending work of the merchant, listed on the home page. */
  pending: byKey<PendingPart, PendingType>(
    ({ feature }, known) => checkName(pendingTypes, known.key) ?? checkFeature(feature, known),
  ),
  stockRequests: single<StockRequests>(({ feature }, known) => checkFeature(feature, known)),
  /** Whether an address gets no more mail of the store. */
  isSuppressed: single<(ctx: Context, email: string) => Promise<boolean>>(),
  recentReviews: single<RecentReviews>(({ feature }, known) => checkFeature(feature, known)),
  /** Runs in the transaction that connects an ecommerce platform, for example to queue a section's first sync. */
  platformConnected: inOrder<Hook>(),
  /** Runs when a person asked for erasure: every section erases that person's data, in one transaction. */
  personErasure: inOrder<ErasureHandler>(),
  /** Runs when a shop removed our app for good: every section erases the shop's customers, in one transaction. */
  shopErasure: inOrder<Hook>(),
  /** Runs in the transaction that syncs orders, with the changed orders. Their items are written already. */
  ordersChanged: inOrder<(ctx: Context, changes: OrderChange[]) => Promise<void>>(),
  /**
   * Runs in the transaction that completes an order sync. `before`: when the previous sync completed; null if there was none.
   */
  ordersRead: inOrder<(ctx: Context, before: Date | null) => Promise<unknown>>(),
  /** By source. Runs in the transaction that writes conversions, with the changed conversions of that source. */
  conversionsChanged: listsByKey<(ctx: Context, changes: ConversionChange[]) => Promise<void>, SourceType>(
    (_told, { key }) => checkName(sourceTypes, key),
  ),
  /** Runs in the transaction that removes a member. */
  memberRemoved: inOrder<(ctx: Context, userId: string) => Promise<void>>(),
  /** Runs in the transaction that selects another messaging connection, or none. */
  connectionSelected: inOrder<Hook>(),
  /** Runs in the transaction that changes the store's time zone: work that is due at a local time must be rescheduled. */
  timezoneChanged: inOrder<Hook>(),
  /** Runs in the transaction that changes the plan or status of the subscription. */
  entitlementChanged: inOrder<Hook>(),
})
export default declared

declare module '#runtime/extensions' {
  interface ExtensionPoints extends DeclaredByStore {}
}
type DeclaredByStore = typeof declared.declared
