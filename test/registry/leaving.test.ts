/**
 * What leaves for a recipient was decided some time before: each file that hands something over has a test that judges
 * it again after it waited, or says why nothing can change meanwhile. A new sender is found here by its call.
 */
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const hands = /\bsending\.deliver\(|\badapters\.mail\.send\(|\bmail\.send\(/

const judged: Record<string, string> = {
  'automations/lib/engine/deliver.ts': 'automations/waited.test.ts',
  'campaigns/lib/deliver.ts': 'campaigns/waited.test.ts',
  'capture/lib/coupon-email.ts': 'capture/waited.test.ts',
  'exchanges/lib/notify-shopper.ts': 'exchanges/waited.test.ts',
  'inbox/lib/send-run.ts': 'inbox/waited.test.ts',
  'messaging/lib/send-attempt.ts': 'messaging/waited.test.ts',
  'reviews/lib/request-delivery.ts': 'reviews/waited.test.ts',
  'stock/lib/deliver.ts': 'stock/waited.test.ts',
  'reviews/lib/confirm.ts': 'reviews/waited.test.ts',
  'store/lib/invitation-email.ts': 'store/team.test.ts',
  'store/lib/exports.ts': 'campaigns/exports.test.ts',
  'subscription/lib/payment-failed-email.ts': 'subscription/renewal.test.ts',
}
const atOnce: Record<string, string> = {
  'reviews/lib/test-mail.ts': 'Within the request',
  'stock/lib/test-mail.ts': 'Within the request',
  'capture/lib/form-email.ts': 'To the shop itself, of a submission that is looked up when it leaves',
}

test('every sender is judged again after it waited', async () => {
  const found: string[] = []
  for (const file of await readdir(join(root, 'operations'), { recursive: true })) {
    if (!file.endsWith('.ts')) continue
    if (hands.test(await readFile(join(root, 'operations', file), 'utf8'))) found.push(file)
  }
  expect(found.sort()).toEqual([...Object.keys(judged), ...Object.keys(atOnce)].sort())
  for (const file of Object.values(judged))
    expect(existsSync(join(root, 'test/operations', file)), file).toBe(true)
})
