/**
 * What leaves for a recipient was decided some time before: each file that hands something over has a test that judges
 * it again after it waited, or says why nothing can change meanwhile. A new lane of the outbox, or a sender beside it, is
 * found here by its call.
 */
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const hands = /\b(?:single|lane)<\w+>\(\)\(|\bsending\.deliver\(|\badapters\.mail\.send\(|\bmail\.send\(/

const judged: Record<string, string> = {
  'automations/engine/lane.ts': 'automations/waited.full.test.ts',
  'campaigns/sending/lane.ts': 'campaigns/waited.full.test.ts',
  'capture/subscribers/coupon-email.ts': 'capture/waited.full.test.ts',
  'exchanges/notices/lane.ts': 'exchanges/waited.full.test.ts',
  'inbox/sending/lane.ts': 'inbox/waited.full.test.ts',
  'messaging/sends/lane.ts': 'messaging/waited.full.test.ts',
  'reviews/requests/lane.ts': 'reviews/waited.full.test.ts',
  'stock/sending/lane.ts': 'stock/waited.full.test.ts',
  'reviews/submitting/confirm.ts': 'reviews/waited.full.test.ts',
  'store/team/invitation-email.ts': 'store/team/members.test.ts',
  'store/files/exports.ts': 'campaigns/exports.test.ts',
  'subscription/notices/payment-failed-email.ts': 'subscription/billing/renewal.test.ts',
}
const atOnce: Record<string, string> = {
  'reviews/requests/test-mail.ts': 'Within the request',
  'stock/sending/test-mail.ts': 'Within the request',
  'capture/contact-form/form-email.ts':
    'To the shop itself, of a submission that is looked up when it leaves',
}

test('every sender is judged again after it waited', async () => {
  const found: string[] = []
  for (const file of await readdir(join(root, 'operations'), { recursive: true })) {
    if (!file.endsWith('.ts') || file.startsWith('messaging/outbox/')) continue
    if (hands.test(await readFile(join(root, 'operations', file), 'utf8'))) found.push(file)
  }
  expect(found.sort()).toEqual([...Object.keys(judged), ...Object.keys(atOnce)].sort())
  for (const file of Object.values(judged))
    expect(existsSync(join(root, 'test/operations', file)), file).toBe(true)
})
