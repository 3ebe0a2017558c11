/**
 * Every form of shoppers' pages, broken in each of its fields: the answer is the form again, with all that was typed,
 * what is wrong at its field, which has the focus, or above, and the status of the refusal.
 */
import { describe, expect, test } from 'vitest'
import { png } from '#test/operations/exchanges/shopper'
import { testApp, wholeRegistry } from '#test/support/app'
import { bodyOf, type FormControl, formsOf, type PageForm } from '#test/support/forms'
import { expectPage, formPages, nameOf, type World, world } from './shopper-pages.ts'

const app = await testApp({
  storefrontReadsIp: 10_000,
  storefrontWritesIp: 10_000,
  storefrontAcceptedIp: 10_000,
})
const { pages } = await wholeRegistry()
const routes = pages.filter(({ forPeople, method }) => forPeople && method === 'POST').map(nameOf)

type Given = Record<string, string | Blob | null>

/** Longer than any field takes, with all that has a meaning in HTML. */
const odd = `"><i>'&amp; &`
const isSeen = ({ kind, name }: FormControl): boolean => kind !== 'hidden' && name !== 'website'
const isText = ({ kind }: FormControl): boolean => ['text', 'email', 'textarea'].includes(kind)

function filledIn(control: FormControl): string | Blob | null {
  const { kind, name, options } = control
  if (kind === 'file') return new Blob([new Uint8Array(png)], { type: 'image/png' })
  if (kind === 'checkbox') return 'true'
  if (kind === 'number') return '1'
  if (kind === 'email' || name === 'contact') return 'bia@example.com'
  if (kind === 'select' || kind === 'radio') return options.at(-1)!
  if (kind === 'textarea') return `\n${odd}\n${name}`
  return `${odd} ${name}`.slice(0, control.maxLength ?? 80)
}

/** Where the route's form is sent: of several the last, so that those before it have to stay as they are. */
async function formOf(at: World, name: string): Promise<PageForm> {
  const pattern = new RegExp(`${name.replace('POST ', '').replace(/:\w+/g, '[^/]+')}$`)
  const page = await formPages[name]!(at)
  const its = formsOf(page).filter(({ action }) => action === null || pattern.test(action))
  expect([name, its.length > 0]).toEqual([name, true])
  return its.at(-1)!
}

/** Each way to break it, with the field that has to say so; null: whichever. */
function broken({ controls }: PageForm): [what: string, given: Given, field: string | null][] {
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

test('each route that takes a form of a page is tried', () => {
  expect(routes.sort()).toEqual(Object.keys(formPages).sort())
})

describe.each(['en-US', 'pt-BR', 'es-MX'])('in %s', (locale) => {
  test.each(routes)('%s', async (name) => {
    const at = await world(app, locale)
    const form = await formOf(at, name)
    const seen = form.controls.filter(isSeen)
    // A button alone: nothing is lost.
    if (seen.length === 0) return
    const given: Given = { website: 'http://spam.example.com' }
    for (const control of seen) given[control.name] = filledIn(control)
    const texts = seen.filter(isText).map(({ name }) => name)
    let refused = 0
    for (const [what, change, field] of [
      ...broken(form),
      ['an unknown field', { bia: '1' }, null] as [string, Given, null],
    ]) {
      const sent = { ...given, ...change }
      const response = await at.send(form.action!, bodyOf(form, sent))
      // What the order or its link says otherwise, and a machine that filled in all, may be taken.
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
      const controls = formsOf(page).flatMap(({ controls }) => controls)
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
      expect([what, wrong[0]!.told]).toEqual([what, expect.stringMatching(/^\p{Lu}.*[.!]/u)])
    }
    expect(refused).toBeGreaterThan(texts.length)
  })
})

describe('a request whose lookup has expired', () => {
  test('asks for the lookup, shows nothing of the order, and has what was filled in once it is found', async () => {
    const at = await world(app, 'en-US')
    const items = [
      { variantId: '2001', quantity: 2 },
      { variantId: '2002', quantity: 1 },
    ]
    const order = await at.shop.delivered({ items })
    const looking = { orderNumber: order.number, contact: 'ana@example.com' }
    const form = formsOf(await at.see(200, '/exchanges/lookup', looking)).at(-1)!
    const given: Given = {
      'items.1.quantity': '1',
      'items.1.reason': 'defective',
      'items.1.comment': 'It <b>leaks',
      comment: 'Thank you',
      photos: new Blob([new Uint8Array(png)]),
      acceptedConditions: 'true',
    }
    await app.advance(31 * 60_000)
    const again = await at.see(400, form.action!, bodyOf(form, given) as FormData)
    expect(again).toContain('look your order up again')
    // What goes along unseen is what was sent.
    const shown = again.replace(/<input type="hidden"[^>]*>/g, '')
    expect(shown).not.toMatch(new RegExp(`${order.number}|Caneca|Avental|sessionToken`))
    const [lookup] = formsOf(again)
    expect(lookup!.controls.find(({ name }) => name === 'orderNumber')!.value).toBe('')
    // Once more wrong, and nothing is lost.
    const wrong = bodyOf(lookup!, { ...looking, contact: 'eva@example.com' }) as Record<string, string>
    const [second] = formsOf(await at.see(404, lookup!.action!, wrong))
    const found = await at.see(200, second!.action!, bodyOf(second!, looking) as Record<string, string>)
    const filled = formsOf(found).at(-1)!
    const controlOf = (name: string) => filled.controls.find((each) => each.name === name)
    expect(Object.keys(given).map((name) => controlOf(name)!.value)).toEqual([
      '1',
      'defective',
      'It <b>leaks',
      'Thank you',
      null,
      'true',
    ])
    expect(controlOf('photos')!.told).toContain('Bia.png')
    expect(controlOf('items.0.quantity')!.value).toBe('0')
    expect(found).toMatch(/<details open><summary>Return items/)
    expect(found).toMatch(/<details><summary>Exchange items/)
    const sent = bodyOf(filled, { photos: new Blob([new Uint8Array(png)]) })
    expect((await at.send(filled.action!, sent)).status).toBe(303)
  })

  test('of another store is no way to its order', async () => {
    const [at, other] = [await world(app, 'en-US'), await world(app, 'en-US')]
    const form = await formOf(at, 'POST /exchanges/requests')
    const page = await other.see(400, '/exchanges/requests', bodyOf(form, {}) as FormData)
    expect(page).not.toMatch(/Caneca|items\.0\.reason"[^>]*required/)
    expect(formsOf(page).map(({ action }) => action)).toEqual([
      `/storefront/${other.shop.publicId}/exchanges/lookup`,
    ])
  })
})

test('what an item was asked for stays at it, though another is gone from the order meanwhile', async () => {
  const at = await world(app, 'en-US')
  const items = [
    { variantId: '2001', quantity: 1 },
    { variantId: '2002', quantity: 1 },
  ]
  const order = await at.shop.delivered({ items })
  const looking = { orderNumber: order.number, contact: 'ana@example.com' }
  const form = formsOf(await at.see(200, '/exchanges/lookup', looking)).at(-1)!
  await at.shop.change(order, { refundItems: [{ variantId: '2001', quantity: 1 }] })
  const given = { 'items.1.quantity': '1', 'items.1.reason': 'other', 'items.1.comment': '', comment: '' }
  const page = await at.see(
    400,
    form.action!,
    bodyOf(form, { ...given, acceptedConditions: 'true' }) as FormData,
  )
  const controls = formsOf(page).at(-1)!.controls
  expect(controls.filter(({ isWrong }) => isWrong).map(({ name, told }) => [name, told])).toEqual([
    ['items.1.comment', expect.stringContaining('needs a comment')],
  ])
  expect(controls.find(({ name }) => name === 'items.1.reason')!.value).toBe('other')
  expect(controls.filter(({ name }) => name.endsWith('.quantity')).map(({ name }) => name)).toEqual([
    'items.1.quantity',
  ])
})

test('scripts are answered as ever', async () => {
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
