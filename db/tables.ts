/**
 * All tables as Kysely types. Tenant tables have a `store_id`, which tenant isolation fills in and compares. System
 * tables have none, and handlers cannot use them.
 */
import type { Insertable, Selectable, Updateable } from 'kysely'
import { type AutomationTables, automationTables } from './tables/automations.ts'
import { type BarTables, barTables } from './tables/bars.ts'
import { type CampaignTables, campaignTables } from './tables/campaigns.ts'
import { type CaptureTables, captureTables } from './tables/capture.ts'
import type { ServerPlacement } from './tables/columns.ts'
import { type ExchangeTables, exchangeTables } from './tables/exchanges.ts'
import { type InboxTables, inboxTables } from './tables/inbox.ts'
import { type LookTables, lookTables } from './tables/looks.ts'
import {
  type MessagingConnectionSystemTables,
  type MessagingConnectionTables,
  messagingConnectionSystemTables,
  messagingConnectionTables,
} from './tables/messaging.ts'
import {
  type MessagingSendTables,
  type MessagingSystemTables,
  messagingSendTables,
  messagingSystemTables,
} from './tables/messaging-sends.ts'
import { type NotificationTables, notificationTables } from './tables/notifications.ts'
import { type OauthSystemTables, oauthSystemTables } from './tables/oauth.ts'
import { type OrderTables, orderTables } from './tables/orders.ts'
import { type ProductPageTables, productPageTables } from './tables/product-page.ts'
import { type PromotionTables, promotionTables } from './tables/promotions.ts'
import { type QuotaTables, quotaTables } from './tables/quota.ts'
import { type ReviewTables, reviewTables } from './tables/reviews.ts'
import { type SandboxSystemTables, sandboxSystemTables } from './tables/sandbox.ts'
import {
  type ServerSystemTables,
  type ServerTables,
  serverSystemTables,
  serverTables,
} from './tables/server.ts'
import { type StatisticsTables, statisticsTables } from './tables/statistics.ts'
import { type StockTables, stockTables } from './tables/stock.ts'
import { type StoreSystemTables, type StoreTables, storeSystemTables, storeTables } from './tables/store.ts'
import { type StorefrontTables, storefrontTables } from './tables/storefront.ts'
import {
  type SubscriptionSystemTables,
  type SubscriptionTables,
  subscriptionSystemTables,
  subscriptionTables,
} from './tables/subscription.ts'

/** The tables that a handler may use, limited to one store's rows. */
export interface TenantTables
  extends AutomationTables,
    InboxTables,
    MessagingConnectionTables,
    MessagingSendTables,
    StatisticsTables,
    StorefrontTables,
    CaptureTables,
    StockTables,
    ReviewTables,
    PromotionTables,
    BarTables,
    LookTables,
    ProductPageTables,
    ExchangeTables,
    ServerTables,
    StoreTables,
    OrderTables,
    QuotaTables,
    SubscriptionTables,
    NotificationTables,
    CampaignTables {}

/** Tables that handlers cannot use. */
interface SystemTables
  extends MessagingSystemTables,
    MessagingConnectionSystemTables,
    ServerSystemTables,
    StoreSystemTables,
    SubscriptionSystemTables,
    OauthSystemTables,
    SandboxSystemTables {}

export interface Tables extends TenantTables, SystemTables {}

export type Row<T extends keyof Tables> = Selectable<Tables[T]>
export type NewRow<T extends keyof Tables> = Insertable<Tables[T]>
export type RowChange<T extends keyof Tables> = Updateable<Tables[T]>

const tenantTables: Record<keyof TenantTables, 'id' | 'store_id'> = {
  ...statisticsTables,
  ...automationTables,
  ...messagingSendTables,
  ...messagingConnectionTables,
  ...inboxTables,
  ...storefrontTables,
  ...captureTables,
  ...stockTables,
  ...reviewTables,
  ...promotionTables,
  ...barTables,
  ...lookTables,
  ...productPageTables,
  ...exchangeTables,
  ...serverTables,
  ...storeTables,
  ...orderTables,
  ...quotaTables,
  ...subscriptionTables,
  ...notificationTables,
  ...campaignTables,
}
const systemTables: Record<keyof SystemTables, ServerPlacement> = {
  ...messagingSystemTables,
  ...messagingConnectionSystemTables,
  ...serverSystemTables,
  ...storeSystemTables,
  ...subscriptionSystemTables,
  ...oauthSystemTables,
  ...sandboxSystemTables,
}

/** The column with the store's id; `system` for a system table; null for any other name, such as that of a CTE. */
export function tenantColumn(table: string): 'id' | 'store_id' | 'system' | null {
  if (Object.hasOwn(tenantTables, table)) return tenantTables[table as keyof TenantTables]
  return Object.hasOwn(systemTables, table) ? 'system' : null
}

/**
 * The place of a table on a cluster: sharded by this column, on all nodes (`everywhere`) or only on the coordinator (see
 * `db/README.md`).
 */
export type Placement = 'id' | 'store_id' | ServerPlacement

export const placements: Readonly<Record<keyof Tables, Placement>> = { ...tenantTables, ...systemTables }
