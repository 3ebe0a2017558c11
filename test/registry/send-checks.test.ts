/**
 * A message is decided some time before it is sent. Each file that sends something needs a test that its
 * preconditions are checked again after a delay, or a reason why nothing can change. New outbox sources and senders
 * are found by their call.
 */
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const sendCalls = /\bdefine(?:Single|Batch)Source<\w+>\(\)\(|\bsending\.deliver\(|\bsendMail\(/

const delayTests: Record<string, string> = {
  'automations/engine/outbox-source.ts': 'automations/waited.full.test.ts',
  'campaigns/sending/outbox-source.ts': 'campaigns/waited.full.test.ts',
  'capture/subscribers/coupon-email.ts': 'capture/delayed-email.full.test.ts',
  'exchanges/notices/outbox-source.ts': 'exchanges/waited.full.test.ts',
  'inbox/sending/outbox-source.ts': 'inbox/delayed-answers.full.test.ts',
  'messaging/sends/outbox-source.ts': 'messaging/waiting.full.test.ts',
  'reviews/requests/outbox-source.ts': 'reviews/delayed-requests.full.test.ts',
  'stock/sending/outbox-source.ts': 'stock/waited.full.test.ts',
  'reviews/submitting/confirm.ts': 'reviews/delayed-requests.full.test.ts',
  'store/team/invitation-email.ts': 'store/team/members.test.ts',
  'store/files/exports.ts': 'campaigns/exports.test.ts',
  'subscription/notices/payment-failed-email.ts': 'subscription/billing/renewal.test.ts',
}
const exempt: Record<string, string> = {
  'reviews/requests/test-mail.ts': 'Within the request',
  'stock/sending/test-mail.ts': 'Within the request',
  'store/files/links.ts': 'Signs and sends for the files above',
  'capture/contact-form/form-email.ts': 'To the store itself, about a submission that is read when sending',
}

test('every sender has a test for a delayed send', async () => {
  const found: string[] = []
  for (const file of await readdir(join(root, 'operations'), { recursive: true })) {
    if (!file.endsWith('.ts') || file.startsWith('messaging/outbox/')) continue
    if (sendCalls.test(await readFile(join(root, 'operations', file), 'utf8'))) found.push(file)
  }
  expect(found.sort()).toEqual([...Object.keys(delayTests), ...Object.keys(exempt)].sort())
  for (const file of Object.values(delayTests))
    expect(existsSync(join(root, 'test/operations', file)), file).toBe(true)
})
