import { readFileSync } from 'node:fs'
import { introspectionFromSchema, parse, printSchema } from 'graphql'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { shopify } from './shopify.ts'
import { findInvalid, generatedUrl, generateModule, readDocuments } from './shopify-stand-in/generate.ts'
import { pruneSchema } from './shopify-stand-in/prune.ts'
import { schema } from './shopify-stand-in/schema.ts'

let opened: Awaited<ReturnType<typeof shopify>>
beforeEach(async () => {
  opened = await shopify()
})
afterEach(() => opened.standIn.close())

interface Answer {
  data?: Record<string, { userErrors: { field: string[]; message: string }[] }>
  errors?: { message: string }[]
}

async function ask(query: string, variables: Record<string, unknown> = {}): Promise<Answer> {
  const { standIn } = opened
  const response = await fetch(`${standIn.endpoint}/admin/api/2026-10/graphql.json`, {
    method: 'POST',
    headers: { 'x-shopify-access-token': standIn.accessToken },
    body: JSON.stringify({ query, variables }),
  })
  return (await response.json()) as Answer
}

describe('documents that do not fit the schema are rejected', () => {
  test.each([
    [
      'a field that is deprecated',
      '{ automaticDiscountNodes(first: 1) { nodes { id } } }',
      /automaticDiscountNodes/,
    ],
    ['an unknown field', '{ shop { nickname } }', /"nickname"/],
    ['an unknown argument', '{ products(first: 1, page: 2) { nodes { id } } }', /"page"/],
    ['an unknown key', '{ products(first: 1, sortKey: PRICE) { nodes { id } } }', /"PRICE"/],
    ['objects without their fields', '{ shop { primaryDomain } }', /primaryDomain/],
    ['a variable of another type', 'query ($id: String!) { order(id: $id) { id } }', /"ID!"/],
    ['no document', '{ shop {', /Syntax Error/],
  ])('%s', async (_, query, message) => {
    expect((await ask(query)).errors![0]!.message).toMatch(message)
  })

  const create = `mutation ($discount: DiscountAutomaticBxgyInput!) {
    made: discountAutomaticBxgyCreate(automaticBxgyDiscount: $discount) { userErrors { field message } }
  }`

  test.each([
    ['a field that the input has not', { name: 'X' }, /"name"/],
    ['a number that is none', { usesPerOrderLimit: 'many' }, /UnsignedInt64/],
    ['an instant that is none', { startsAt: '21/11/2026' }, /DateTime/],
    ['another context', { context: { all: 'EVERYBODY' } }, /EVERYBODY/],
  ])('%s', async (_, discount, message) => {
    expect((await ask(create, { discount })).errors![0]!.message).toMatch(message)
  })
})

describe('the documents of the adapter', () => {
  test('fit the published schema, and use nothing that is deprecated', () => {
    expect(findInvalid(schema, readDocuments())).toEqual([])
    expect(findInvalid(schema, parse('{ shop { nickname } }'))).not.toEqual([])
  })

  test('have the generated types', async () => {
    expect(readFileSync(generatedUrl, 'utf8')).toBe(await generateModule(schema, readDocuments()))
  })

  test('use all that the stored part of the schema has', () => {
    const { sdl } = pruneSchema(introspectionFromSchema(schema), readDocuments())
    expect(printSchema(schema)).toBe(sdl)
  })
})

test.each([
  ['GET', 'shop.json'],
  ['GET', 'orders.json?status=any'],
  ['POST', 'webhooks.json'],
  ['DELETE', 'script_tags/1.json'],
])('there is no REST: %s %s is not found', async (method, path) => {
  const { standIn } = opened
  const response = await fetch(`${standIn.endpoint}/admin/api/2026-10/${path}`, {
    method,
    headers: { 'x-shopify-access-token': standIn.accessToken },
  })
  expect(response.status).toBe(404)
})
