/** Queue names and payloads, which must stay compatible across releases, and the use of every handle. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import type { Handle } from '#runtime/jobs/handle'
import { operationsFolder } from '#runtime/registry/folder'
import { loadRegistry } from '#runtime/registry/registry'
import { object, z } from '#runtime/schema'

const { jobs } = await loadRegistry()

/**
 * Each queue with the fields of its payload. Jobs of the previous release may still be queued: never rename a queue
 * or add a required field.
 */
const queues: Readonly<Record<string, string>> = {
  'automation-advance': 'key at executionId',
  'automation-event': 'carts orders',
  'automation-execute': 'automationId jobId',
  'automation-coupon-revoke': 'code',
  'automation-scan': 'automationId',
  'automation-scan-all': '',
  'automation-sweep': '',
  'billing-reconcile': 'intentId?',
  'billing-reconcile-all': '',
  'campaign-message-send': 'campaignId messageId hasPlace? troubleSince?',
  'campaign-purge': 'campaignId',
  'campaign-send': 'campaignId places?',
  'campaign-start': 'campaignId scheduledAt',
  'campaign-watchdog': '',
  'capture-cleanup': '',
  'carts-sync': '',
  'carts-sync-all': '',
  'chat-agent-reply': 'inboundId phone text at',
  'connection-probe': 'port part',
  'contact-form-export': 'exportId',
  'contact-form-notify': 'submissionId',
  'contacts-export': 'exportId',
  'conversion-days-rebuild': '',
  'conversions-export': 'exportId',
  'discount-reconcile': 'discountId token',
  'discounts-sync': '',
  'discounts-sync-all': '',
  'exchange-expire': '',
  'exchange-export': 'exportId',
  'exchange-notify': 'noticeId',
  'files-clean': '',
  'inbox-contact-tier': 'contactIds',
  'inbox-export': 'exportId',
  'inbox-media-fetch': 'messageId',
  'inbox-read-receipt': 'conversationId',
  'inbox-reconcile': '',
  'inbox-segments-nightly': '',
  'inbox-segments-recalculate': '',
  'inbox-send': 'conversationId',
  'inbox-watchdog': '',
  'invitation-email': 'invitationId',
  'list-import': 'importId listId',
  'mailprovider-pull': '',
  'mailprovider-pull-all': '',
  'mailprovider-push': 'subscriberId',
  'mailprovider-sync': 'syncId',
  'message-settle': 'storeId? messageId?',
  'messaging-cleanup': '',
  'newsletter-coupon': 'subscriberId',
  'newsletter-coupon-email': 'subscriberId',
  'newsletter-export': 'exportId',
  'notifications-prune': '',
  'oauth-sweep': '',
  'official-revalidate': '',
  'official-revalidate-all': '',
  'opt-outs-export': 'exportId',
  'order-attribute': 'orderIds',
  'orders-sync': 'checkWebhooks?',
  'orders-sync-all': '',
  'payment-failed-email': 'paymentId amount currency',
  'product-snapshots-refresh': 'productIds?',
  'product-snapshots-refresh-all': '',
  'provider-event-apply': '',
  'provider-probe': 'port provider',
  'qr-link-lost': 'lostAt',
  'qr-session-expire': 'startedAt',
  'review-confirm-email': 'reviewId',
  'review-dispatch-plan': 'orderIds?',
  'review-dispatch-plan-all': '',
  'review-dispatch-send': '',
  'review-dispatch-send-all': '',
  'review-export': 'exportId',
  'review-image-copy': 'reviewId urls',
  'review-import': 'importId',
  'sandbox-billing-tick': '',
  'sandbox-message-events': '',
  'sandbox-template-review': '',
  'statistics-export': 'exportId',
  'stock-alert-send': 'claimId tries? places?',
  'stock-alert-wave': 'variantId isNext',
  'stock-export': 'exportId',
  'stock-list-push': 'subscriptionId',
  'stock-reconcile': '',
  'stock-reconcile-all': '',
  'storefront-script-publish': 'isEmbedded?',
  'subscription-tick': '',
  'template-sync': '',
  'template-sync-all': '',
  'widget-events-prune': '',
  'wishlist-export': 'exportId',
}

test('queue names and payloads are unchanged', () => {
  const found = jobs.map(({ name, handle }) => [name, listFields(handle)])
  expect(
    Object.fromEntries(found),
    'add a new job to `queues` above; existing queues stay and may only gain optional fields',
  ).toEqual(queues)
})

function listFields({ payload }: Handle): string {
  const { shape } = payload as z.ZodObject<z.ZodRawShape>
  return Object.entries(shape)
    .map(([name, field]) => (field.isOptional() ? `${name}?` : name))
    .join(' ')
}

test('every exported handle is used by its job', async () => {
  const untaken: string[] = []
  let seen = 0
  for (const { file, name, handle } of await listExportedHandles()) {
    seen += 1
    if (jobs.find((job) => job.name === handle.name)?.handle !== handle) untaken.push(`${file}: ${name}`)
  }
  expect(untaken).toEqual([])
  expect(seen).toBeGreaterThan(50)
})

test('handles are created only in jobs/ and handles.ts', async () => {
  const files = await readTypescriptFiles()
  const makers = files.filter(({ text }) => /(?<![.\w])handle\('/.test(text)).map(({ file }) => file)
  expect(makers.filter((file) => !/\/jobs\/[^/]+$|\/handles\.ts$/.test(file))).toEqual([])
})

test('a handle without a job is found', () => {
  const lone = { kind: 'handle', name: 'nobody-takes-it', payload: object({}) } as const
  expect(findHandles({ lone, beside: 1, schema: z.string() })).toEqual([{ name: 'lone', handle: lone }])
})

async function readTypescriptFiles(): Promise<{ path: string; file: string; text: string }[]> {
  const entries = await readdir(operationsFolder, { recursive: true })
  const files = entries.filter((file) => file.endsWith('.ts')).sort()
  return Promise.all(
    files.map(async (file) => {
      const path = join(operationsFolder, file)
      return { path, file, text: await readFile(path, 'utf8') }
    }),
  )
}

async function listExportedHandles(): Promise<{ file: string; name: string; handle: Handle }[]> {
  const found: { file: string; name: string; handle: Handle }[] = []
  for (const { path, file } of await readTypescriptFiles()) {
    const module: Record<string, unknown> = await import(pathToFileURL(path).href)
    for (const each of findHandles(module)) found.push({ file, ...each })
  }
  return found
}

const findHandles = (module: Record<string, unknown>): { name: string; handle: Handle }[] =>
  Object.entries(module)
    .filter((entry): entry is [string, Handle] => (entry[1] as { kind?: string } | null)?.kind === 'handle')
    .map(([name, handle]) => ({ name, handle }))
