/** A list's export is imported again without change, whatever its contacts contain (rule 7). */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import importCsv from '#operations/campaigns/imports/api/import-csv'
import addContact from '#operations/campaigns/lists/api/add-contact'
import createList from '#operations/campaigns/lists/api/create-list'
import exportContacts from '#operations/campaigns/lists/api/export-contacts'
import { readCell } from '#operations/store/index'
import { listSandboxMail } from '#runtime/ports/mail/sandbox'
import { testApp } from '#test/support/app'
import { readRows } from '#test/support/csv-reader'
import { importRows, makePhone, read } from '#test/support/imports'
import { type Shop, store } from '#test/support/store'

const app = await testApp()

const piece = fc.constantFrom(
  'a',
  'ß',
  '😀',
  ' ',
  '"',
  ',',
  ';',
  '\t',
  '\r',
  '\n',
  "'",
  '=',
  '+',
  '-',
  '@',
  '1',
  '＝',
)
const text = fc
  .string({ unit: piece, minLength: 1, maxLength: 12 })
  .filter((value) => value.trim() === value && value !== '')
const field = fc.constantFrom(
  ...['source', 'createdAt', 'optedOut', 'opted_out', 'id', 'Phone', 'telefone', 'nome', 'sobrenome', 'CPF'],
  ...['last_order', 'Email', 'celular', 'firstname', 'memberRating', 'customFields', 'X', 'x'],
)
const contact = fc.record({
  name: fc.option(text),
  email: fc.option(fc.constantFrom('ana@example.com', "o'neil+x@Example.com")),
  customFields: fc.dictionary(field, text, { maxKeys: 20, noNullPrototype: true }),
})

async function readExport(shop: Shop, id: string, query: object = {}): Promise<string[][]> {
  const { jobId } = (await shop.call(exportContacts, { params: { id }, query: { ...query } })).body
  await app.drainJobs()
  const mails = await listSandboxMail(app.database.root as never, { to: shop.email })
  const file = mails.flatMap((mail) => mail.attachments).find((each) => each.fileName.includes(jobId))
  return readRows(Buffer.from(file!.content).toString())
}

test('an export is imported again without change, also when it was written for Excel', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(contact, { minLength: 1, maxLength: 8 }),
      fc.array(text, { minLength: 20, maxLength: 20 }),
      fc.boolean(),
      async (contacts, twenty, forExcel) => {
        const shop = await store(app)
        const id: string = (await shop.call(createList, { body: { name: 'List' } })).body.id
        const all = [
          ...contacts,
          {
            name: null,
            email: null,
            customFields: Object.fromEntries(twenty.map((value, n) => [`f_${n}`, value])),
          },
        ]
        for (const [n, body] of all.entries()) {
          const added = await shop.call(addContact, {
            params: { id },
            body: { phone: makePhone(n), ...body },
          })
          expect([added.status, added.body.error]).toEqual([201, undefined])
        }
        const [columns, ...rows] = await readExport(shop, id, { forExcel })
        expect(new Set(columns).size).toBe(columns!.length)
        const known = new Set(all.flatMap((each) => Object.keys(each.customFields)))
        expect(columns).toHaveLength(7 + known.size)
        await importRows(shop, id, { columns, rows })
        await app.drainJobs()
        expect((await read(shop, id)).import).toMatchObject({
          status: 'completed',
          unchanged: all.length,
          added: 0,
          updated: 0,
          invalid: 0,
        })
        const copy = await shop.call(importCsv, { body: { name: 'Copy', columns, rows } })
        expect([copy.status, copy.body.error]).toEqual([202, undefined])
        await app.drainJobs()
        const copied = await readExport(shop, copy.body.listId)
        const plain = await readExport(shop, id)
        expect(comparable(copied)).toEqual(comparable(plain))
      },
    ),
    { numRuns: 12 },
  )
})

/**
 * Rows by phone, without the columns that an import sets. An import reduces blanks within a name, and whether a name
 * needs a protective apostrophe depends on them.
 */
const comparable = ([header, ...rows]: string[][]): Record<string, string>[] =>
  rows
    .map((row) => {
      const { source, opted_out, created_at, name, ...rest } = Object.fromEntries(
        row.map((cell, at) => [header![at]!, cell]),
      )
      return { ...rest, name: readCell(name!).replace(/\s+/g, ' ') } as Record<string, string>
    })
    .sort((a, b) => (a.phone! < b.phone! ? -1 : 1))
