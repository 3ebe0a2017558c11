/** The adapters of this server: by environment for what it has one of, by name for what each store chooses. */
import { join } from 'node:path'
import type { Database } from '#db/database'
import { makePrivate } from '#db/private-folder'
import type { Settings } from '#runtime/server/settings'
import type { Clock } from '../clock.ts'
import { derivedKey, derivedSecrets } from '../secrets.ts'
import { couponsFile } from './billing/coupons-file.ts'
import { MercadoPagoBilling, mercadoPagoUrl } from './billing/mercado-pago.ts'
import type { BillingPort } from './billing/port.ts'
import { sandboxBilling } from './billing/sandbox.ts'
import type { EcommercePort } from './ecommerce/port.ts'
import { sandboxEcommerce } from './ecommerce/sandbox.ts'
import { readShopifyUrl } from './ecommerce/shopify/options.ts'
import { ShopifyEcommerce } from './ecommerce/shopify/shopify.ts'
import type { MailPort } from './mail/port.ts'
import { openMail } from './mail/providers.ts'
import type { MailingListPort } from './mailing-list/port.ts'
import { openMailingLists } from './mailing-list/providers.ts'
import { sandboxMailingList } from './mailing-list/sandbox.ts'
import type { MessagingPort } from './messaging/port.ts'
import { sandboxMessaging } from './messaging/sandbox.ts'
import { readWhatsappUrl } from './messaging/whatsapp/options.ts'
import { WhatsappMessaging } from './messaging/whatsapp/whatsapp.ts'
import { diskFiles, diskStorage } from './storage/disk.ts'
import type { StoragePort } from './storage/port.ts'
import { s3Storage } from './storage/s3.ts'

export interface Adapters {
  readonly mail: MailPort
  readonly storage: StoragePort
  /** By the provider's name in a store's connection. */
  readonly ecommerce: Readonly<Record<string, EcommercePort>>
  readonly messaging: Readonly<Record<string, MessagingPort>>
  readonly mailingList: Readonly<Record<string, MailingListPort>>
  readonly billing: Readonly<Record<string, BillingPort>>
  /** The provider of stores that have chosen none. */
  readonly billingDefault: string
  /** Answers `/files/…`, where files are on this server's disk. */
  readonly files: ((request: Request) => Promise<Response>) | null
  close(): Promise<void>
}

/** What signs the messaging provider's callbacks: set, or made from the server's own secret. */
export const messagingSecret = ({ messagingAppSecret, secretKey }: Settings): string =>
  messagingAppSecret ?? derivedKey(secretKey, 'messaging-app').toString('hex')

export async function openAdapters(settings: Settings, database: Database, clock: Clock): Promise<Adapters> {
  const { storage, files } = await openStorage(settings, clock)
  const { mail, close } = await openMail({ url: settings.mailUrl, from: settings.mailFrom, database, clock })
  const secret = messagingSecret(settings)
  return {
    mail,
    storage,
    files,
    ecommerce: {
      sandbox: sandboxEcommerce({ db: database.root, clock }),
      ...(settings.ecommerceUrl === 'sandbox'
        ? {}
        : { shopify: new ShopifyEcommerce({ ...readShopifyUrl(settings.ecommerceUrl), clock }) }),
    },
    messaging: {
      // First: the assistant's number is that of the first that has one.
      ...(settings.messagingProvider === 'whatsapp'
        ? {
            whatsapp: new WhatsappMessaging({
              ...readWhatsappUrl(settings.messagingUrl, settings.messagingAppSecret),
              callbackUrl: `${settings.publicUrl}/hooks/messaging/whatsapp`,
            }),
          }
        : {}),
      sandbox: sandboxMessaging({
        db: database.root,
        clock,
        appSecret: secret,
        perSecond: settings.sandboxMessagesPerSecond,
        publicUrl: settings.publicUrl,
      }),
    },
    mailingList: {
      sandbox: sandboxMailingList({ db: database.root, clock }),
      ...openMailingLists(settings.mailingListUrl),
    },
    ...openBilling(settings, database, clock),
    close,
  }
}

async function openStorage(settings: Settings, clock: Clock): Promise<Pick<Adapters, 'storage' | 'files'>> {
  if (settings.storageUrl !== 'disk')
    return { storage: await s3Storage({ url: settings.storageUrl }), files: null }
  const dir = join(settings.dataDir, 'files')
  makePrivate(dir, { forGroup: true })
  const options = {
    dir,
    publicUrl: settings.publicUrl,
    secrets: derivedSecrets(settings, 'files'),
    clock,
  }
  return { storage: diskStorage(options), files: diskFiles(options) }
}

function openBilling(
  settings: Settings,
  database: Database,
  clock: Clock,
): Pick<Adapters, 'billing' | 'billingDefault'> {
  const sandbox = sandboxBilling({
    db: database.root,
    clock,
    secret: derivedKey(settings.secretKey, 'sandbox-billing').toString('hex'),
    publicUrl: settings.publicUrl,
  })
  if (settings.billingUrl === 'sandbox') return { billing: { sandbox }, billingDefault: 'sandbox' }
  const { webhookSecret, ...http } = mercadoPagoUrl(settings.billingUrl)
  const findCoupon = couponsFile(settings.billingCoupons)
  const mercadopago = new MercadoPagoBilling({
    ...{ http, webhookSecret, clock, findCoupon },
    publicUrl: settings.publicUrl,
  })
  return { billing: { sandbox, mercadopago }, billingDefault: 'mercadopago' }
}
