/** Declares the billing port and opens its adapters. */
import type { PortSpec } from '#runtime/ports/spec'
import { deriveKey } from '#runtime/secrets'
import { readCouponsFile } from './coupons-file.ts'
import { readMercadoPagoUrl } from './mercado-pago-url.ts'
import type { BillingPort } from './port.ts'
import { sandboxBilling } from './sandbox.ts'

declare module '#runtime/ports/ports' {
  interface SectionPorts {
    billing: BillingPort
  }
}

export const billingPort: PortSpec<BillingPort> = {
  account: 'server',
  local: ['findCoupon', 'parseWebhook'],
  async open({ settings, database, clock }): Promise<Record<string, BillingPort>> {
    const { billingUrl, billingCoupons, publicUrl } = settings
    const sandbox = sandboxBilling({
      db: database.root,
      clock,
      secret: deriveKey(settings.secretKey, 'sandbox-billing').toString('hex'),
      publicUrl,
    })
    if (billingUrl === 'sandbox') return { sandbox }
    const { MercadoPagoBilling } = await import('./mercado-pago.ts')
    const { webhookSecret, ...http } = readMercadoPagoUrl(billingUrl)
    const findCoupon = readCouponsFile(billingCoupons)
    const mercadopago = new MercadoPagoBilling({ http, webhookSecret, clock, findCoupon, publicUrl })
    return { sandbox, mercadopago }
  },
}
