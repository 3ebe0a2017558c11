import { wiring } from '#runtime/wiring'
import { ecommerceKind, mailKind, storageKind } from './connections/kinds.ts'
import { ecommercePort } from './ecommerce/open.ts'
import { tellOfFailure } from './files/job-notices.ts'
import { keepNamed, lookForFiles } from './files/uses.ts'
import { ordersSync } from './handles.ts'
import { connectionStates } from './health/gauge.ts'
import { hear, troubledProviders } from './health/hear.ts'
import { forgetAllOrders, forgetsOrders } from './orders/forget.ts'
import {
  appUninstalled,
  customersAsked,
  customersRedacted,
  ordersDeleted,
  shopRedacted,
} from './platform/events.ts'
import { allowed } from './quota/allowed.ts'

export default wiring({
  entitlement: allowed,
  jobFailed: [tellOfFailure],
  heard: hear,
  troubledProviders,
  gauges: [connectionStates],
  ports: { ecommerce: ecommercePort },
  connectionKinds: { ecommerce: ecommerceKind },
  serverKinds: { mail: mailKind, storage: storageKind },
  references: { file: lookForFiles },
  keeps: [keepNamed],
  personForgotten: [forgetsOrders],
  shopForgotten: [forgetAllOrders],
  providerEvents: {
    'ecommerce:order.updated': [async (ctx) => void (await ctx.queue(ordersSync, {}))],
    'ecommerce:order.deleted': [ordersDeleted],
    'ecommerce:app.uninstalled': [appUninstalled],
    'ecommerce:customer.asked': [customersAsked],
    'ecommerce:customer.redacted': [customersRedacted],
    'ecommerce:shop.redacted': [shopRedacted],
  },
})
