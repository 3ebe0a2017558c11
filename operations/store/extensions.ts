import { extensions } from '#runtime/extensions'
import { ecommerceKind, mailKind, storageKind } from './connections/kinds.ts'
import { ecommercePort } from './ecommerce/port-spec.ts'
import { lookUpFiles, trackFiles } from './files/uses.ts'
import { ordersSync } from './handles.ts'
import { connectionStates } from './health/gauge.ts'
import { findUnhealthyProviders, recordOutcome } from './health/record-outcome.ts'
import { eraseAllOrders, orderErasure } from './orders/erasure.ts'
import {
  cancelDeletedOrders,
  disconnectUninstalledApp,
  eraseCustomers,
  eraseShop,
  notifyDataRequests,
} from './platform/events.ts'
import { notifyJobFailure } from './platform/failed-job-notices.ts'
import { entitlementCheck } from './quota/entitlement-check.ts'

export default extensions({
  entitlement: entitlementCheck,
  jobFailed: [notifyJobFailure],
  providerOutcome: recordOutcome,
  failingProviders: findUnhealthyProviders,
  gauges: [connectionStates],
  ports: { ecommerce: ecommercePort },
  connectionKinds: { ecommerce: ecommerceKind },
  serverKinds: { mail: mailKind, storage: storageKind },
  references: { file: lookUpFiles },
  referencesChanged: [trackFiles],
  personErasure: [orderErasure],
  shopErasure: [eraseAllOrders],
  providerEvents: {
    'ecommerce:order.updated': [async (ctx) => void (await ctx.queue(ordersSync, {}))],
    'ecommerce:order.deleted': [cancelDeletedOrders],
    'ecommerce:app.uninstalled': [disconnectUninstalledApp],
    'ecommerce:customer.asked': [notifyDataRequests],
    'ecommerce:customer.redacted': [eraseCustomers],
    'ecommerce:shop.redacted': [eraseShop],
  },
})
