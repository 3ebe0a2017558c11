/**
 * Every form of shopper pages, with each field invalid: the answer is the form again with all input, the error at its
 * focused field or above the form, and the status of the refusal.
 */
import { describe, expect, test } from 'vitest'
import { png } from '#test/operations/exchanges/shopper'
import { testApp, wholeRegistry } from '#test/support/app'
import { buildBody, type FormControl, type PageForm, parseForms } from '#test/support/forms'
import { expectPage, formatName, formPages, type World, world } from './shopper-pages.ts'

const app = await testApp({
  storefrontReadsIp: 10_000,
  storefrontWritesIp: 10_000,
  storefrontAcceptedIp: 10_000,
})
const { pages } = await wholeRegistry()
const routes = pages.filter(({ forPeople, method }) => forPeople && method === 'POST').map(formatName)

type Given = Record<string, string | Blob | null>

/** Longer than any field allows, with all special characters of HTML. */
const odd = `"><i>'&amp; &`
const isSeen = ({ kind, name }: FormControl): boolean => kind !== 'hidden' && name !== 'website'
const isText = ({ kind }: FormControl): boolean => ['text', 'email', 'textarea'].includes(kind)

function fillControl(control: FormControl): string | Blob | null {
  const { kind, name, options } = control
  if (kind === 'file') return new Blob([new Uint8Array(png)], { type: 'image/png' })
  if (kind === 'checkbox') return 'true'
  if (kind === 'number') return '1'
  if (kind === 'email' || name === 'contact') return 'bia@example.com'
  if (kind === 'select' || kind === 'radio') return options.at(-1)!
  if (kind === 'textarea') return `\n${odd}\n${name}`
  return `${odd} ${name}`.slice(0, control.maxLength ?? 80)
}

/** The route's form; of several the last, so that earlier ones must stay unchanged. */
async function findForm(at: World, name: string): Promise<PageForm> {
  const pattern = new RegExp(`${name.replace('POST ', '').replace(/:\w+/g, '[^/]+')}$`)
  const page = await formPages[name]!(at)
  const its = parseForms(page).filter(({ action }) => action === null || pattern.test(action))
  expect([name, its.length > 0]).toEqual([name, true])
  return its.at(-1)!
}

/** Each invalid input, with the field that must show the error; null: any. */
function buildBrokenInputs({ controls }: PageForm): [what: string, given: Given, field: string | null][] {
  return controls.flatMap((control): [string, Given, string | null][] => {
    const { name, kind, maxLength, isRequired } = control
    if (name === 'website') return []
    if (kind === 'hidden') return [[`another ${name}`, { [name]: 'bia' }, null]]
    const isChosen = kind === 'radio' || kind === 'checkbox'
    return [
      ...(isText(control) && maxLength !== null
        ? [[`too long ${name}`, { [name]: 'ã'.repeat(maxLength + 1) }, name] as [string, Given, string]]
        : []),
      ...(isText(control)
        ? [[`control characters in ${name}`, { [name]: 'a\u0007b' }, name] as [string, Given, string]]
        : []),
      ...(isRequired && isChosen
        ? [[`no ${name}`, { [name]: null }, name] as [string, Given, string]]
        : isRequired
          ? [[`empty ${name}`, { [name]: '' }, null] as [string, Given, null]]
          : []),
      ...(kind === 'number'
        ? [[`words as ${name}`, { [name]: 'bia' }, name] as [string, Given, string]]
        : []),
      ...(kind === 'file'
        ? [
            [`no picture as ${name}`, { [name]: new Blob(['<svg>']), website: '' }, name] as [
              string,
              Given,
              string,
            ],
          ]
        : []),
    ]
  })
}

test('each route that accepts a form has a case', () => {
  expect(routes.sort()).toEqual(Object.keys(formPages).sort())
})

describe.each(['en-US', 'pt-BR', 'es-MX'])('in %s', (locale) => {
  test.each(routes)('%s', async (name) => {
    const at = await world(app, locale)
    const form = await findForm(at, name)
    const seen = form.controls.filter(isSeen)
    // Only a button: there is no input to keep.
    if (seen.length === 0) return
    const given: Given = { website: 'http://spam.example.com' }
    for (const control of seen) given[control.name] = fillControl(control)
    const texts = seen.filter(isText).map(({ name }) => name)
    let refused = 0
    for (const [what, change, field] of [
      ...buildBrokenInputs(form),
      ['an unknown field', { bia: '1' }, null] as [string, Given, null],
    ]) {
      const sent = { ...given, ...change }
      const response = await at.send(form.action!, buildBody(form, sent))
      // Input that the order or link overrides, and a filled honeypot, may be accepted.
      if (response.status < 400) {
        expect([what, field]).toEqual([what, null])
        continue
      }
      refused += 1
      const page = await response.text()
      expectPage(
        page,
        response,
        [name, what],
        [400, 403, 404, 409].find((each) => each === response.status)!,
        locale,
      )
      expect([what, /role="alert"[^>]*>[^<]/.test(page)]).toEqual([what, true])
      expect([what, page.match(/ autofocus[ >]/g)?.length]).toEqual([what, 1])
      expect([what, page.includes('<i>') || page.includes('spam.example')]).toEqual([what, false])
      const controls = parseForms(page).flatMap(({ controls }) => controls)
      for (const each of texts) {
        const typed = String(sent[each] ?? '').replaceAll('\u0007', '')
        const shown = controls.filter(({ name }) => name === each || name === `kept.${each}`)
        expect([what, each, shown.map(({ value }) => value)]).toEqual([
          what,
          each,
          typed === '' ? expect.anything() : expect.arrayContaining([typed]),
        ])
      }
      if (field === null) continue
      const wrong = controls.filter(({ isWrong }) => isWrong)
      expect([what, wrong.map(({ name, hasFocus }) => [name, hasFocus])]).toEqual([what, [[field, true]]])
      expect([what, wrong[0]!.description]).toEqual([what, expect.stringMatching(/^\p{Lu}.*[.!]/u)])
    }
    expect(refused).toBeGreaterThan(texts.length)
  })
})

describe('an exchange request whose lookup has expired', () => {
  test('the lookup is requested again without order data, and the input is restored afterwards', async () => {
    const at = await world(app, 'en-US')
    const items = [
      { variantId: '2001', quantity: 2 },
      { variantId: '2002', quantity: 1 },
    ]
    const order = await at.shop.delivered({ items })
    const looking = { orderNumber: order.number, contact: 'ana@example.com' }
    const form = parseForms(await at.see(200, '/exchanges/lookup', looking)).at(-1)!
    const given: Given = {
      'items.1.quantity': '1',
      'items.1.reason': 'defective',
      'items.1.comment': 'It <b>leaks',
      comment: 'Thank you',
      photos: new Blob([new Uint8Array(png)]),
      acceptedConditions: 'true',
    }
    await app.advance(31 * 60_000)
    const again = await at.see(400, form.action!, buildBody(form, given) as FormData)
    expect(again).toContain('look your order up again')
    // Hidden fields carry the submitted input.
    const shown = again.replace(/<input type="hidden"[^>]*>/g, '')
    expect(shown).not.toMatch(new RegExp(`${order.number}|Caneca|Avental|sessionToken`))
    const [lookup] = parseForms(again)
    expect(lookup!.controls.find(({ name }) => name === 'orderNumber')!.value).toBe('')
    // A second wrong lookup keeps the input.
    const wrong = buildBody(lookup!, { ...looking, contact: 'eva@example.com' }) as Record<string, string>
    const [second] = parseForms(await at.see(404, lookup!.action!, wrong))
    const found = await at.see(200, second!.action!, buildBody(second!, looking) as Record<string, string>)
    const filled = parseForms(found).at(-1)!
    const controlOf = (name: string) => filled.controls.find((each) => each.name === name)
    expect(Object.keys(given).map((name) => controlOf(name)!.value)).toEqual([
      '1',
      'defective',
      'It <b>leaks',
      'Thank you',
      null,
      'true',
    ])
    expect(controlOf('photos')!.description).toContain('Bia.png')
    expect(controlOf('items.0.quantity')!.value).toBe('0')
    expect(found).toMatch(/<details open><summary>Return items/)
    expect(found).toMatch(/<details><summary>Exchange items/)
    const sent = buildBody(filled, { photos: new Blob([new Uint8Array(png)]) })
    expect((await at.send(filled.action!, sent)).status).toBe(303)
  })

  test('a lookup of another store gives no access to its order', async () => {
    const [at, other] = [await world(app, 'en-US'), await world(app, 'en-US')]
    const form = await findForm(at, 'POST /exchanges/requests')
    const page = await other.see(400, '/exchanges/requests', buildBody(form, {}) as FormData)
    expect(page).not.toMatch(/Caneca|items\.0\.reason"[^>]*required/)
    expect(parseForms(page).map(({ action }) => action)).toEqual([
      `/storefront/${other.shop.publicId}/exchanges/lookup`,
    ])
  })
})

test('the input of an item stays with it if another item was removed from the order', async () => {
  const at = await world(app, 'en-US')
  const items = [
    { variantId: '2001', quantity: 1 },
    { variantId: '2002', quantity: 1 },
  ]
  const order = await at.shop.delivered({ items })
  const looking = { orderNumber: order.number, contact: 'ana@example.com' }
  const form = parseForms(await at.see(200, '/exchanges/lookup', looking)).at(-1)!
  await at.shop.change(order, { refundItems: [{ variantId: '2001', quantity: 1 }] })
  const given = { 'items.1.quantity': '1', 'items.1.reason': 'other', 'items.1.comment': '', comment: '' }
  const page = await at.see(
    400,
    form.action!,
    buildBody(form, { ...given, acceptedConditions: 'true' }) as FormData,
  )
  const controls = parseForms(page).at(-1)!.controls
  expect(
    controls.filter(({ isWrong }) => isWrong).map(({ name, description }) => [name, description]),
  ).toEqual([['items.1.comment', expect.stringContaining('needs a comment')]])
  expect(controls.find(({ name }) => name === 'items.1.reason')!.value).toBe('other')
  expect(controls.filter(({ name }) => name.endsWith('.quantity')).map(({ name }) => name)).toEqual([
    'items.1.quantity',
  ])
})

test('scripts get the usual JSON errors', async () => {
  const at = await world(app, 'en-US')
  for (const [path, body] of [
    ['/exchanges/lookup', { orderNumber: '1', contact: '' }],
    ['/exchanges/requests', { sessionToken: 'bia' }],
    ['/exchanges/requests/bia/shipped', { trackingCode: '' }],
    ['/reviews', { productId: '1001', rating: 6 }],
  ] as const) {
    const response = await app.fetch(
      new Request(`http://localhost/storefront/${at.shop.publicId}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
      { ip: '10.9.9.9' },
    )
    expect([path, response.status, await response.json()]).toEqual([
      path,
      400,
      { error: { code: 'bad_request', message: expect.stringMatching(/^[a-zA-Z]+: /) } },
    ])
  }
})
