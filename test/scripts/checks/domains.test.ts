/** The runtime names no provider and no domain concept: the check can fail. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { findDomainIssues } from '#scripts/checks/domains'

const root = mkdtempSync(join(tmpdir(), 'domains-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

async function findIssues(code: string, file = 'runtime/ports/a.ts'): Promise<string[]> {
  rmSync(join(root, 'runtime'), { recursive: true, force: true })
  mkdirSync(join(root, 'runtime'))
  mkdirSync(dirname(join(root, file)), { recursive: true })
  writeFileSync(join(root, file), `// generic\n${code}\n`)
  return (await findDomainIssues(root)).map(({ file: at, wrong }) => `${at} ${wrong}`)
}

test.each([
  ["import { Shopify } from './shopify.ts'", 'shopify'],
  ['// as WhatsApp does', 'whatsapp'],
  ["const url = 'mercadopago://key'", 'mercadopago'],
  ['env.SHOPIFY_URL', 'shopify'],
  ['class WhatsAppClient {}', 'whatsapp'],
  ['const HTTPCampaigns = 1', 'campaign'],
  ['env.CAMPAIGN_LIMIT', 'campaign'],
  ["const path = '/campaigns/:id'", 'campaign'],
  ['interface CampaignInput {}', 'campaign'],
  ['/** Reviews are read. */', 'review'],
  ['const cartLines = []', 'cart'],
])('%s is a fault', async (code, word) => {
  expect(await findIssues(code)).toEqual([`runtime/ports/a.ts:2 names ${word}, which is a section's`])
})

test.each(['set({ storefront_revision: 1 })', 'const preview = reviewed', '// in this order of the store'])(
  '%s is allowed',
  async (code) => {
    expect(await findIssues(code)).toEqual([])
  },
)

test("a file's path counts", async () => {
  expect(await findIssues('', 'runtime/ports/shopify/client.ts')).toEqual([
    "runtime/ports/shopify/client.ts names shopify, which is a section's",
  ])
})

test('a section may name its own concepts', async () => {
  expect(await findIssues('const campaign = shopify', 'operations/campaigns/a.ts')).toEqual([])
})

test('the project passes the check', async () => {
  expect(await findDomainIssues(join(import.meta.dirname, '../../..'))).toEqual([])
})
