/**
 * Every route outside `/v1`, from the router's own list: forbidden text in any input is refused in our own form, and
 * nothing causes a 5xx.
 */
import { describe, expect, test } from 'vitest'
import { canonicalPath } from '#runtime/http/target'
import { appendedByOthers, formatName } from '#test/registry/shopper-pages'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

const app = await testApp({
  storefrontReadsIp: 100_000,
  storefrontWritesIp: 100_000,
  storefrontAcceptedIp: 100_000,
})
const shop = await store(app)

const routeList = app.publicRoutes.map(({ method, path }) => ({
  method: method === 'ALL' ? 'POST' : method,
  path,
}))
const peoplePages = new Set(app.registry.pages.filter((page) => page.forPeople).map(formatName))
const isForPeople = (route: { method: string; path: string }): boolean => peoplePages.has(formatName(route))
const known: Record<string, string> = { publicId: shop.publicId, storeId: shop.id, provider: 'sandbox' }

/** The address of a route, with `odd` in its parameter of that name. */
const buildAddress = (path: string, odd?: { name: string; value: string }): string =>
  path
    .replace('*', 'x')
    .replace(/:(\w+)/g, (_, name: string) => (odd?.name === name ? odd.value : (known[name] ?? 'x')))

let address = 0
/** Each call comes from another address: this is not about limits. */
async function call(
  method: string,
  path: string,
  init: RequestInit = {},
): Promise<{ status: number; text: string }> {
  address += 1
  const ip = `10.${address >> 16}.${(address >> 8) & 255}.${address & 255}`
  const answer = await app.fetch(
    new Request(`http://localhost${path}`, {
      method,
      ...init,
      headers: { accept: 'application/json, text/event-stream', ...(init.headers as object) },
    }),
    { ip },
  )
  return { status: answer.status, text: await answer.text() }
}

function expectRefused(
  answer: { status: number; text: string },
  statuses: readonly number[],
  what: string,
): void {
  expect(statuses, `${what}: ${answer.text.slice(0, 300)}`).toContain(answer.status)
  const body = JSON.parse(answer.text) as { error: { message: unknown }; error_description: unknown }
  // OAuth endpoints answer in the form of their RFCs.
  const isOauth = /^POST \/oauth\/(register|token|revoke)\b/.test(what) && typeof body.error === 'string'
  expect(typeof (isOauth ? body.error_description : body.error.message), what).toBe('string')
}

const odd = { NUL: '%00', 'a lone surrogate': '%ed%a0%80', 'bad encoding': '%zz', DEL: 'a%7f' }

describe('each address', () => {
  test('there are routes of every kind', () => {
    const paths = routeList.map(({ path }) => path.split('/')[1])
    for (const kind of [
      'healthz',
      'metrics',
      'docs',
      'files',
      'mcp',
      'storefront',
      'hooks',
      'sandbox',
      'invitations',
    ])
      expect(paths).toContain(kind)
    expect(routeList.length).toBeGreaterThan(60)
  })

  test.each(Object.entries(odd))(
    '%s in a parameter, in a value of the query and in a name of it: 400, unless a page for people ignores it',
    async (_what, text) => {
      for (const { method, path } of routeList) {
        for (const [, name] of path.matchAll(/:(\w+)/g)) {
          const at = buildAddress(path, { name: name!, value: `a${text}` })
          expectRefused(await call(method, at), [400], `${method} ${at}`)
        }
        const at = buildAddress(path)
        const { status } = await call(method, at)
        for (const query of [`productId=${text}`, `${text}=1`]) {
          const answer = await call(method, `${at}?${query}`)
          if (isForPeople({ method, path })) expect([at, query, answer.status]).toEqual([at, query, status])
          else expectRefused(answer, [400], `${method} ${at}?${query}`)
        }
      }
    },
  )

  test('parameters that others append to the link of a page for people change nothing', async () => {
    for (const { method, path } of routeList.filter(isForPeople)) {
      const at = buildAddress(path)
      const { status } = await call(method, at)
      const answer = await call(method, `${at}?${appendedByOthers}`)
      expect([method, at, answer.status, answer.text.includes('utm_')]).toEqual([method, at, status, false])
    }
  })

  test('an address has one spelling', async () => {
    for (const { method, path } of routeList) {
      const plain = buildAddress(path)
      const fixed = path.split('/')[1]!
      const encoded = `%${fixed.charCodeAt(0).toString(16)}${fixed.slice(1)}`
      // The front page has no letter to encode.
      for (const other of [...(fixed ? [plain.replace(fixed, encoded)] : []), `/${plain}`]) {
        expectRefused(await call(method, other), [404], `${method} ${other}`)
      }
      for (const other of [
        `/v1/..${plain}`,
        `/v1/%2e%2E${plain}`,
        `/.${plain}`,
        `/x/%2e%2e${plain}`,
        `/v1\\..${plain}`,
        `${plain}#x`,
      ]) {
        expect(canonicalPath(other), other).toBeNull()
      }
      expect(canonicalPath(plain)).toBe(plain)
    }
  })
})

test('a slash at the end leads to the page without it; a write is refused', async () => {
  let tried = 0
  for (const { method, path } of routeList) {
    if (path === '/' || path.includes('*')) continue
    const plain = buildAddress(path)
    if (method !== 'GET') {
      expectRefused(await call(method, `${plain}/`), [404], `${method} ${plain}/`)
      continue
    }
    tried += 1
    const answer = await app.fetch(new Request(`http://localhost${plain}/?a=1`), { ip: '10.9.9.8' })
    expect([answer.status, answer.headers.get('location')], plain).toEqual([308, `${plain}?a=1`])
  }
  expect(tried).toBeGreaterThan(40)
  for (const none of ['//', '//example.com/', '/\\example.com/'])
    expect((await app.fetch(new Request(`http://localhost${none}`))).headers.get('location'), none).toBeNull()
})

const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
const nul = JSON.stringify('\0')
const bodies: [what: string, type: string, body: string | Uint8Array<ArrayBuffer>][] = [
  ['NUL in a value', 'application/json', `{"name":${nul},"text":${nul},"phone":${nul},"events":[${nul}]}`],
  ['NUL in a key', 'application/json', `{${nul}:1}`],
  ['a key deep inside', 'application/json', `{"events":[{"a":{${nul}:1}}]}`],
  ['a lone surrogate', 'application/json', '{"name":"\\ud800"}'],
  ['a forbidden name', 'application/json', '{"__proto__":{"a":1}}'],
  ['no JSON', 'application/json', '{"a":'],
  ['a list', 'application/json', '[[1]]'],
  ['a text', 'application/json', '"a"'],
  ['null', 'application/json', 'null'],
  ['JSON of 100,000 levels', 'application/json', deep(100_000)],
  ['bytes that are no UTF-8', 'application/json', new Uint8Array([0xff, 0xfe])],
  ['another type', 'image/png', 'x'],
  ['a form with NUL', 'application/x-www-form-urlencoded', 'name=%00&phone=%00'],
  ['a form with NUL as a name', 'application/x-www-form-urlencoded', '%00=1'],
  ['a form of bad encoding', 'application/x-www-form-urlencoded', 'name=%zz'],
  ['a form of no parts', 'multipart/form-data; boundary=x', 'nothing'],
  [
    'a form with NUL in a part',
    'multipart/form-data; boundary=x',
    '--x\r\nContent-Disposition: form-data; name="name"\r\n\r\na\0b\r\n--x--\r\n',
  ],
]

describe('each body', () => {
  test.each(bodies)('%s causes no failure of ours', async (what, type, body) => {
    for (const { method, path } of routeList) {
      if (method === 'GET') continue
      const at = buildAddress(path)
      const answer = await call(method, at, { body, headers: { 'content-type': type } })
      expect(answer.status, `${method} ${at}, ${what}: ${answer.text.slice(0, 300)}`).toBeLessThan(500)
      expect(answer.status, `${method} ${at}, ${what}`).not.toBe(0)
      if (answer.text.startsWith('<')) continue
      if (answer.status >= 400) expectRefused(answer, [answer.status], `${method} ${at}, ${what}`)
    }
  })

  test.each(['announced', 'streamed'])(
    'a too large body (%s) is refused with 413 and the limit',
    async (how) => {
      const bytes = new Uint8Array(34 * 1024 * 1024).fill(0x20)
      for (const { method, path } of routeList) {
        if (method === 'GET') continue
        const at = buildAddress(path)
        const stream = new ReadableStream({
          start(controller) {
            controller.enqueue(bytes)
            controller.close()
          },
        })
        const init =
          how === 'announced'
            ? { body: 'x', headers: { 'content-length': String(bytes.length) } }
            : { body: stream, duplex: 'half' as const }
        const answer = await call(method, at, init as RequestInit)
        expect(answer.status, `${method} ${at}`).toBeLessThan(500)
        if (answer.status !== 413 || path === '/mcp') continue
        expect(answer.text, at).toMatch(/larger than [1-9][\d.]* (KiB|MiB)/)
      }
    },
  )
})

test('scripts of any site may call the pages that allow it, and read their refusals', async () => {
  const pages = app.registry.pages.filter((page) => page.cors)
  expect(pages.length).toBeGreaterThan(5)
  for (const { method, path } of pages) {
    const ask = (how: string, at = buildAddress(path)) =>
      app.fetch(new Request(`http://localhost${at}`, { method: how }), { ip: '10.9.9.9' })
    const preflight = await ask('OPTIONS')
    expect(preflight.status, path).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
    expect(preflight.headers.get('access-control-allow-methods')).toMatch(/^GET, ?POST, ?OPTIONS$/)
    expect(preflight.headers.get('access-control-allow-headers')).toContain('Idempotency-Key')
    const address = isForPeople({ method, path })
      ? buildAddress(path, { name: 'publicId', value: 'a%00' })
      : `${buildAddress(path)}?a=%00`
    const refused = await ask(method, address)
    expect(refused.status, path).toBe(400)
    expect(refused.headers.get('access-control-allow-origin')).toBe('*')
    expect(refused.headers.get('access-control-expose-headers')).toContain('X-Request-Id')
  }
})
