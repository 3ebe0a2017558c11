/** The runtime names no provider and no domain: the check of it, shown to bite. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { domainFaults } from '#scripts/checks/domains'

const root = mkdtempSync(join(tmpdir(), 'domains-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

async function faultsOf(code: string, file = 'runtime/ports/a.ts'): Promise<string[]> {
  rmSync(join(root, 'runtime'), { recursive: true, force: true })
  mkdirSync(join(root, 'runtime'))
  mkdirSync(dirname(join(root, file)), { recursive: true })
  writeFileSync(join(root, file), `// generic\n${code}\n`)
  return (await domainFaults(root)).map(({ file: at, wrong }) => `${at} ${wrong}`)
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
  expect(await faultsOf(code)).toEqual([`runtime/ports/a.ts:2 names ${word}, which is a section's`])
})

test.each(['set({ storefront_revision: 1 })', 'const preview = reviewed', '// in this order of the store'])(
  '%s is none',
  async (code) => {
    expect(await faultsOf(code)).toEqual([])
  },
)

test("a file's path counts", async () => {
  expect(await faultsOf('', 'runtime/ports/shopify/client.ts')).toEqual([
    "runtime/ports/shopify/client.ts names shopify, which is a section's",
  ])
})

test('a section names what is its own', async () => {
  expect(await faultsOf('const campaign = shopify', 'operations/campaigns/a.ts')).toEqual([])
})

test('the tree keeps its rules', async () => {
  expect(await domainFaults(join(import.meta.dirname, '../../..'))).toEqual([])
})
