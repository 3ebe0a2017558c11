import { describe, expect, test } from 'vitest'
import importCsv from '#operations/campaigns/imports/api/import-csv'
import importCsvIntoList from '#operations/campaigns/imports/api/import-csv-into-list'
import { camelCase, resolveLayout } from '#operations/campaigns/imports/csv-columns'
import addContact from '#operations/campaigns/lists/api/add-contact'
import addOptOut from '#operations/campaigns/opt-outs/api/add-opt-out'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import {
  columns,
  emptyList,
  importRows,
  makePhone,
  makeRows,
  read,
  readContacts,
  readNotices,
  readStaged,
} from '#test/support/imports'
import { store } from '#test/support/store'
import { isFullSuite } from '#test/support/suite'

const app = await testApp()

describe('rows', () => {
  test('an invalid character is an error of its row; lines are counted as an editor shows them', async () => {
    const shop = await store(app)
    const asked = await shop.call(importCsv, {
      body: {
        name: 'Copied',
        columns,
        rows: [
          ['(11) 98888-7771', 'Ana\nSouza', 'ana@example.com', 'one\r\ntwo\rthree'],
          ['(11) 98888-7772', 'Bru\u0000no', null, 'Campinas'],
          ['(11) 98888-7773', 'Carla', null, '\ud800'],
          ['(11) 98888-7774', 'Davi', null, 'Itu'],
        ],
      },
    })
    expect([asked.status, asked.body.error]).toEqual([202, undefined])
    await app.drainJobs()
    expect((await read(shop, asked.body.listId)).import).toMatchObject({
      processed: 4,
      errors: [
        { line: 6, reason: 'name: must not contain control characters' },
        { line: 7, reason: 'cidade: must not contain control characters' },
      ],
    })
    expect((await read(shop, asked.body.listId)).size).toBe(2)
    const odd = await shop.call(importCsv, { body: { name: 'O\u0000dd', columns, rows: [['1']] } })
    expect([odd.status, odd.body.error.message]).toEqual([400, 'name: must not contain control characters'])
  })

  test('valid rows are added, each invalid one is listed with its line', async () => {
    const shop = await store(app)
    const asked = await shop.call(importCsv, {
      body: {
        name: 'Feira de outubro',
        columns,
        rows: [
          ['(11) 98888-7771', 'Ana', 'ana@example.com', 'Santos'],
          ['(11) 98888-7772', 'Bruno', null, 'Campinas'],
          ['+5511988887771', null, '', 'Itu'],
          ['abc', 'Carla', null, null],
          ['5.51E+12', 'Davi', null, null],
          ['  ', 'Eva', null, null],
          ['', ' ', null, null],
        ],
      },
    })
    expect([asked.status, asked.body.status]).toEqual([202, 'queued'])
    const { listId, jobId } = asked.body
    const queued = (await read(shop, listId)).import
    expect(queued).toMatchObject({
      jobId,
      kind: 'csv',
      status: 'queued',
      total: 6,
      processed: 0,
      startedAt: null,
    })
    await app.drainJobs()
    const list = await read(shop, listId)
    expect(list).toMatchObject({
      source: 'csv',
      size: 2,
      customFieldNames: ['cidade'],
      lastSyncedAt: null,
      import: {
        jobId,
        status: 'completed',
        total: 6,
        processed: 6,
        added: 2,
        updated: 1,
        unchanged: 0,
        invalid: 3,
        excluded: 0,
        failureReason: null,
        errors: [
          { line: 5, reason: 'phone: is not a phone number' },
          {
            line: 6,
            reason:
              'phone: was turned into a number by the spreadsheet (5.51E+12); format the column as text',
          },
          { line: 7, reason: 'phone: is missing' },
        ],
      },
    })
    expect(list.import.startedAt).not.toBeNull()
    expect(list.import.finishedAt).not.toBeNull()
    const [bruno, ana] = await readContacts(shop, listId)
    expect(ana).toMatchObject({
      name: 'Ana',
      email: 'ana@example.com',
      customFields: { cidade: 'Itu' },
      source: 'csv',
    })
    expect(bruno).toMatchObject({ name: 'Bruno', email: null, customFields: { cidade: 'Campinas' } })
    expect(await readNotices(shop)).toMatchObject([
      {
        type: 'list-import-completed',
        level: 'warning',
        data: { jobId, listId, processed: 6, added: 2, updated: 1, invalid: 3 },
      },
    ])
    expect(await readStaged(shop)).toEqual([])
  })

  test('every other error has its reason', async () => {
    const shop = await store(app)
    const id = await emptyList(shop)
    await importRows(shop, id, {
      rows: [
        [makePhone(1), 'x'.repeat(121), null, null],
        [makePhone(2), null, 'no address', null],
        [makePhone(3), null, null, 'x'.repeat(501)],
        [makePhone(4), null, null, null, 'more'],
        [5_511_988_887_775, 'A number', null, 12],
        [5.51e22, null, null, null],
      ],
    })
    await app.drainJobs()
    const list = await read(shop, id)
    expect(list.import.errors).toEqual([
      { line: 2, reason: 'name: has more than 120 characters' },
      { line: 3, reason: 'email: is not an email address' },
      { line: 4, reason: 'cidade: has more than 500 characters' },
      { line: 5, reason: 'row: has more cells than columns' },
      {
        line: 7,
        reason: 'phone: was turned into a number by the spreadsheet (5.51e+22); format the column as text',
      },
    ])
    expect(await readContacts(shop, id)).toMatchObject([
      { phone: '+5511988887775', customFields: { cidade: '12' } },
    ])
  })

  test('existing contacts are updated, unchanged or skipped; opted-out phones are marked', async () => {
    const shop = await store(app)
    const id = await emptyList(shop)
    const phone = makePhone(1)
    await shop.call(addContact, {
      params: { id },
      body: {
        phone,
        name: 'Ana',
        email: 'ana@example.com',
        customFields: { cidade: 'Santos', cupom: 'VIP5' },
      },
    })
    await shop.call(addOptOut, { body: { phone } })
    await importRows(shop, id, {
      rows: [
        [phone, null, 'Ana@new.example.com', 'Santos'],
        [phone, 'Ana', null, null],
      ],
    })
    await app.drainJobs()
    const after = await read(shop, id)
    expect(after).toMatchObject({
      size: 1,
      optedOut: 1,
      import: { added: 0, updated: 1, unchanged: 1 },
    })
    expect(await readContacts(shop, id)).toMatchObject([
      {
        name: 'Ana',
        email: 'Ana@new.example.com',
        customFields: { cidade: 'Santos', cupom: 'VIP5' },
        source: 'manual',
        optedOut: true,
      },
    ])
    await importRows(shop, id, { rows: [[phone, 'Other', null, null], [makePhone(2)]], onDuplicate: 'skip' })
    await app.drainJobs()
    expect(await read(shop, id)).toMatchObject({ size: 2, import: { added: 1, updated: 0, unchanged: 1 } })
  })

  test('rows beyond the limit of a list get an error', async () => {
    const shop = await store(app)
    const id = await emptyList(shop)
    await app.database.root.updateTable('contact_lists').set({ size: 199_999 }).where('id', '=', id).execute()
    await importRows(shop, id, { rows: makeRows(3) })
    await app.drainJobs()
    const list = await read(shop, id)
    expect(list).toMatchObject({ size: 200_000, import: { added: 1, invalid: 2 } })
    expect(list.import.errors).toEqual([
      { line: 3, reason: 'list: is full' },
      { line: 4, reason: 'list: is full' },
    ])
  })

  test('the first 100 errors are kept, all are counted', async () => {
    const shop = await store(app)
    const id = await emptyList(shop)
    await importRows(shop, id, { rows: Array.from({ length: 1500 }, () => ['abc']) })
    await app.drainJobs()
    const { import: done } = await read(shop, id)
    expect([done.invalid, done.errors.length, done.errors[99].line]).toEqual([1500, 100, 101])
  })
})

describe('columns', () => {
  const layout = (names: string[], mapping?: Parameters<typeof resolveLayout>[0]['mapping']) =>
    resolveLayout({ columns: names, mapping })

  test('are found by name, ignoring case and accents; the others become custom fields', () => {
    expect(
      layout(['TELÉFONO', 'Nómbre', 'E-Mail', 'Data de nascimento', 'CPF', 'last_order', 'Phone']),
    ).toEqual({
      width: 7,
      phone: 6,
      otherPhones: [0],
      name: 1,
      email: 2,
      customFields: { telefono: 0, dataDeNascimento: 3, cpf: 4, lastOrder: 5 },
    })
    expect(
      layout(['celular', 'cidade', 'Cidade', '%%', '2nd', 'First name', 'nombre', 'nome']).customFields,
    ).toEqual({
      cidade: 1,
      cidade2: 2,
      column4: 3,
      column2nd: 4,
      nome: 7,
    })
    // Messages reach mobiles.
    expect(layout(['Nome', 'SMS', 'Telefone', 'Celular'])).toMatchObject({ phone: 3, otherPhones: [2, 1] })
    expect(camelCase('Ação da FEIRA 2026')).toBe('acaoDaFEIRA2026')
    expect(camelCase('x'.repeat(80))).toHaveLength(80)
    expect(Object.keys(layout(['phone', 'x'.repeat(80)]).customFields)).toEqual(['x'.repeat(40)])
  })

  test('follow the mapping if there is one, and only that', () => {
    const mapping = { phone: 'Contato', customFields: { bairro: 'Bairro' } }
    expect(layout(['Nome', 'Contato', 'Bairro'], mapping)).toEqual({
      width: 3,
      phone: 1,
      name: null,
      email: null,
      customFields: { bairro: 2 },
    })
  })

  test('invalid columns or mappings are 400 and name the field', async () => {
    const shop = await store(app)
    const id = await emptyList(shop)
    const rows = [['11988887777']]
    const many = ['phone', ...Array.from({ length: 21 }, (_none, n) => `c${n}`)]
    for (const [body, message] of [
      [{ columns: ['a', 'b'], rows }, 'columns: none is a phone'],
      [{ columns: ['phone', 'phone'], rows }, 'columns: "phone" is there twice'],
      [{ columns: many, rows }, 'columns: 21 would become custom fields'],
      [{ columns: ['a'], rows, mapping: { phone: 'b' } }, 'mapping.phone: there is no column "b"'],
      [
        { columns: ['a'], rows, mapping: { phone: 'a', customFields: { x: 'y' } } },
        'mapping.customFields.x: there is no column "y"',
      ],
      [
        { columns: ['a'], rows, mapping: { phone: 'a', customFields: { email: 'a' } } },
        'mapping.customFields.email: is no name of a custom field',
      ],
      [{ columns: ['phone'], rows: [] }, 'rows: must have at least one row'],
      [{ columns: ['phone'], rows: [['1'], 'x'] }, 'rows.1: must be a list of cells'],
      [{ columns: ['phone'], rows: [['1', true]] }, 'rows.0.1: must be text, a number or null'],
      [{ columns: ['phone'] }, 'rows: is required'],
      [{ columns: ['phone'], rows, onDuplicate: 'replace' }, 'onDuplicate: must be one of update, skip'],
      [
        { columns: Array.from({ length: 201 }, (_none, n) => `c${n}`), rows },
        'columns: must have at most 200',
      ],
      [{ columns: ['phone', '', 'a'], rows }, 'columns.1: must not be empty'],
    ] as const) {
      const answer = await shop.call(importCsvIntoList, { params: { id }, body })
      expect([answer.status, answer.body.error.message.slice(0, message.length)]).toEqual([400, message])
    }
    expect((await read(shop, id)).import).toBeNull()
    const nowhere = await shop.call(importCsvIntoList, {
      params: { id: newId(1) },
      body: { columns: ['phone'], rows },
    })
    expect(nowhere.status).toBe(404)
    await shop.call(importCsv, { body: { name: 'Taken', columns: ['phone'], rows } })
    expect((await shop.call(importCsv, { body: { name: 'TAKEN', columns: ['phone'], rows } })).status).toBe(
      409,
    )
  })
})

describe('size', () => {
  test.runIf(isFullSuite)(
    '100,000 rows are imported; one more is 400, and so are a million invalid cells',
    async () => {
      const shop = await store(app)
      const asked = await shop.call(importCsv, { body: { name: 'Big', columns, rows: makeRows(100_000) } })
      expect(asked.status).toBe(202)
      expect(await app.worker.drain(110_000)).toMatchObject({ failed: 0, pending: 0 })
      expect(await read(shop, asked.body.listId)).toMatchObject({
        size: 100_000,
        import: { status: 'completed', total: 100_000, added: 100_000 },
      })
      const more = await shop.call(importCsv, {
        body: { name: 'Bigger', columns: ['phone'], rows: Array.from({ length: 100_001 }, () => ['1']) },
      })
      expect([more.status, more.body.error.message]).toEqual([400, 'rows: must have at most 100000 entries'])
      const wrong = `{"name":"Wrong","columns":["phone"],"rows":[${'[{},{},{},{},{},{},{},{},{},{}],'.repeat(99_999)}[1]]}`
      const refused = await shop.call(importCsv, { body: wrong })
      expect([refused.status, refused.body.error.message]).toEqual([
        400,
        'rows.0.0: must be text, a number or null',
      ])
      const tooLarge = await shop.call(importCsv, { body: `{"name":"${'x'.repeat(15 * 1024 * 1024)}"}` })
      expect(tooLarge.status).toBe(413)
    },
    120_000,
  )
})
