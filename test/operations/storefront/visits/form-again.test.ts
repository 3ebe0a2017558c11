import { expect, test } from 'vitest'
import { faultsOf, formAgain } from '#operations/storefront/visits/form-again'
import type { Visit } from '#operations/storefront/visits/visit'
import type { Context } from '#runtime/context'
import { type ErrorCode, refuse } from '#runtime/errors'
import type { Filled } from '#runtime/values/filled'

const names = { name: { en: 'Name', 'pt-BR': 'Nome', es: 'Nombre' } }
const inPortuguese = (refusal: Parameters<typeof faultsOf>[0]) => faultsOf(refusal, names, 'pt-BR')

test('a refusal is told field by field, in words of the language', () => {
  expect(inPortuguese(refuse('bad_request', 'name: is required'))).toEqual([
    { field: 'name', text: 'Preencha este campo.', above: 'Nome: preencha este campo.' },
  ])
  expect(
    inPortuguese(refuse('bad_request', 'items.3.name: must have at most 80 characters; bia: is not known')),
  ).toEqual([
    { field: 'items.3.name', text: 'No máximo 80 caracteres.', above: 'Nome: no máximo 80 caracteres.' },
    { field: 'bia', text: 'Confira este campo.', above: 'Bia: confira este campo.' },
  ])
  const wording = { en: 'name: is odd', 'pt-BR': 'name: é estranho; mesmo', es: 'name: es raro' }
  expect(inPortuguese(refuse('bad_request', wording))).toEqual([
    { field: 'name', text: 'É estranho; mesmo.', above: 'Nome: é estranho; mesmo.' },
  ])
})

test('one that names no field, or something else before a colon, is of no field', () => {
  const wording = { en: 'Mug: only 1 left', 'pt-BR': 'Caneca: só 1', es: 'Taza: solo 1' }
  expect(inPortuguese(refuse('conflict', wording))).toEqual([
    { field: null, text: 'Caneca: só 1.', above: 'Caneca: só 1.' },
  ])
  expect(inPortuguese(refuse('conflict', 'It was sent already'))).toEqual([
    { field: null, text: 'Isso não é possível agora.', above: 'Isso não é possível agora.' },
  ])
})

const ctx = { store: { locale: 'en-US' } } as Context
const visit = { address: '/a', typed: async () => ({ name: 'Ana', website: 'spam' }) } as unknown as Visit
const again = (code: ErrorCode, drawn: (filled: Filled) => string) =>
  formAgain(
    ctx,
    visit,
    { draw: async (_ctx, _visit, filled) => new Response(drawn(filled)) },
    { fields: names },
    refuse(code, 'name: is required'),
  )

test('a page that does not say what is wrong is not shown; the hidden field is not filled in', async () => {
  expect(await again('bad_request', () => 'nothing')).toBeNull()
  const page = await again('bad_request', (filled) => filled.above() + JSON.stringify(filled.fields))
  expect([page!.status, await page!.text()]).toEqual([
    400,
    expect.stringMatching(/Name: fill.*\{"name":"Ana"\}$/),
  ])
})

test.each(['rate_limited', 'unavailable', 'payload_too_large'] as const)(
  '%s is a page of its own',
  async (code) => {
    expect(await again(code, (filled) => filled.above())).toBeNull()
  },
)
