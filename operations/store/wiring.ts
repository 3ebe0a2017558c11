import { wiring } from '#runtime/wiring'
import { tellOfFailure } from './files/job-notices.ts'
import { keepNamed, lookForFiles } from './files/uses.ts'
import { ordersSync } from './handles.ts'
import { forgetAllOrders, forgetOrders } from './orders/forget.ts'
import {
  appUninstalled,
  customersAsked,
  customersRedacted,
  ordersDeleted,
  shopRedacted,
} from './platform/events.ts'

export default wiring({
  jobFailed: [tellOfFailure],
  references: { file: lookForFiles },
  keeps: [keepNamed],
  personForgotten: [forgetOrders],
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
