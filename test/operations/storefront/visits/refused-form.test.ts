import { expect, test } from 'vitest'
import { redrawForm, toFormIssues } from '#operations/storefront/visits/refused-form'
import type { Visit } from '#operations/storefront/visits/visit'
import type { Context } from '#runtime/context'
import { type ErrorCode, refuse } from '#runtime/errors'
import type { FormRenderer } from '#runtime/values/form-renderer'

const names = { name: { en: 'Name', 'pt-BR': 'Nome', es: 'Nombre' } }
const inPortuguese = (refusal: Parameters<typeof toFormIssues>[0]) => toFormIssues(refusal, names, 'pt-BR')

test("a refusal is shown field by field, in the store's language", () => {
  expect(inPortuguese(refuse('bad_request', 'name: is required'))).toEqual([
    { field: 'name', text: 'Preencha este campo.', standalone: 'Nome: preencha este campo.' },
  ])
  expect(
    inPortuguese(refuse('bad_request', 'items.3.name: must have at most 80 characters; bia: is not known')),
  ).toEqual([
    { field: 'items.3.name', text: 'No máximo 80 caracteres.', standalone: 'Nome: no máximo 80 caracteres.' },
    { field: 'bia', text: 'Confira este campo.', standalone: 'Bia: confira este campo.' },
  ])
  const wording = { en: 'name: is odd', 'pt-BR': 'name: é estranho; mesmo', es: 'name: es raro' }
  expect(inPortuguese(refuse('bad_request', wording))).toEqual([
    { field: 'name', text: 'É estranho; mesmo.', standalone: 'Nome: é estranho; mesmo.' },
  ])
})

test('a refusal without a field, or with another word before a colon, belongs to no field', () => {
  const wording = { en: 'Mug: only 1 left', 'pt-BR': 'Caneca: só 1', es: 'Taza: solo 1' }
  expect(inPortuguese(refuse('conflict', wording))).toEqual([
    { field: null, text: 'Caneca: só 1.', standalone: 'Caneca: só 1.' },
  ])
  expect(inPortuguese(refuse('conflict', 'It was sent already'))).toEqual([
    { field: null, text: 'Isso não é possível agora.', standalone: 'Isso não é possível agora.' },
  ])
})

const ctx = { store: { locale: 'en-US' } } as Context
const visit = { address: '/a', typed: async () => ({ name: 'Ana', website: 'spam' }) } as unknown as Visit
const again = (code: ErrorCode, drawn: (filled: FormRenderer) => string) =>
  redrawForm(
    ctx,
    visit,
    { draw: async (_ctx, _visit, filled) => new Response(drawn(filled)) },
    { fields: names },
    refuse(code, 'name: is required'),
  )

test('a page that does not show the issues is not used; the hidden field stays empty', async () => {
  expect(await again('bad_request', () => 'nothing')).toBeNull()
  const page = await again('bad_request', (filled) => filled.renderUnshown() + JSON.stringify(filled.fields))
  expect([page!.status, await page!.text()]).toEqual([
    400,
    expect.stringMatching(/Name: fill.*\{"name":"Ana"\}$/),
  ])
})

test.each(['rate_limited', 'unavailable', 'payload_too_large'] as const)(
  '%s is a page of its own',
  async (code) => {
    expect(await again(code, (filled) => filled.renderUnshown())).toBeNull()
  },
)
