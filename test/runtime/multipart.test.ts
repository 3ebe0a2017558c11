/** Forms with files are parsed like the platform does, except those that are crafted to keep a server busy. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type FormEntry, parseBoundary, parseMultipart } from '#runtime/http/multipart'
import { PageRequest } from '#runtime/page'

const plain = async (entries: Iterable<readonly [string, string | File]>): Promise<unknown[]> =>
  Promise.all(
    [...entries].map(async ([name, value]) =>
      typeof value === 'string'
        ? [name, value]
        : [name, value.name, value.type, Buffer.from(await value.arrayBuffer())],
    ),
  )
const read = (text: string, atMost = 1000): FormEntry[] => parseMultipart(Buffer.from(text), 'x', atMost)
const part = (headers: string, content: string): string => `--x\r\n${headers}\r\n\r\n${content}\r\n`
const field = (name: string, content: string): string =>
  part(`Content-Disposition: form-data; name="${name}"`, content)

test('a form is parsed as it was sent, with names and files of any kind', async () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 20 })
  const value = fc.oneof(text, fc.tuple(text, fc.uint8Array({ maxLength: 60 })))
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(text, value), { maxLength: 8 }), async (fields) => {
      const form = new FormData()
      for (const [name, given] of fields) {
        if (typeof given === 'string') form.append(name, given)
        else form.append(name, new File([given[1]], given[0], { type: 'image/png' }))
      }
      const sent = new Response(form)
      const contentType = sent.headers.get('content-type')!
      const bytes = new Uint8Array(await sent.arrayBuffer())
      const wanted = await new Response(bytes, { headers: { 'content-type': contentType } }).formData()
      expect(await plain(parseMultipart(bytes, parseBoundary(contentType)!, 1000))).toEqual(
        await plain(wanted),
      )
    }),
  )
})

test('forms of other programs: a preamble, blanks, encoded names, unquoted names, empty parts', async () => {
  const text = [
    'words before it\r\n--x  \r\ncontent-disposition:form-data ;  NAME="a"\r\n\r\n\r\n',
    part(
      'Content-Disposition: form-data; name="b"; filename*=UTF-8\'\'fot%C3%B3.png\r\nContent-Type: image/png',
      '1',
    ),
    part('X-More: 1\r\nContent-Disposition: form-data; name="c"; filename=""', '-x\r\n--'),
    field('say %22hi%22', '\r\n--'),
    part('Content-Disposition: form-data; name=d', '2'),
    part("Content-Disposition: form-data; name=e; filename=e.png; filename*=utf-8''e.png", '3'),
    '--x--\r\nand after',
  ].join('')
  expect(await plain(read(text))).toEqual([
    ['a', ''],
    ['b', 'fotó.png', 'image/png', Buffer.from('1')],
    ['c', '', 'text/plain', Buffer.from('-x\r\n--')],
    ['say "hi"', '\r\n--'],
    ['d', '2'],
    ['e', 'e.png', 'text/plain', Buffer.from('3')],
  ])
})

test.each([
  ['nothing', ''],
  ['no end', field('a', '1')],
  ['no name', `${part('Content-Disposition: form-data', '1')}--x--`],
  ['a name without its end', `${part('Content-Disposition: form-data; name="a', '1')}--x--`],
  ['no headers', '--x\r\n\r\n1\r\n--x--'],
  ['headers without end', `--x\r\n${'a: b\r\n'.repeat(2000)}\r\n1\r\n--x--`],
  [
    'a name that is none',
    `${part('Content-Disposition: form-data; name="a"; filename*=utf-8\'\'%E0', '1')}--x--`,
  ],
])('%s is no form', (_what, text) => {
  expect(() => read(text)).toThrow('body: is no form')
})

test('fields without files have 256 KiB at most, all together', () => {
  const half = 'a'.repeat(128 * 1024)
  expect(read(`${field('a', half)}${field('b', half)}--x--`)).toHaveLength(2)
  expect(() => read(`${field('a', half)}${field('b', half)}${field('c', '1')}--x--`)).toThrow('256 KiB')
  const file = part('Content-Disposition: form-data; name="f"; filename="f"', half.repeat(4))
  expect(read(`${file}${field('a', half)}--x--`)).toHaveLength(2)
})

test('the number of parts, and of fields of a plain form, is limited in advance', async () => {
  expect(read(`${field('a', '1').repeat(3)}--x--`, 3)).toHaveLength(3)
  expect(() => read(`${field('a', '1').repeat(4)}--x--`, 3)).toThrow('body: has too many parameters')
  const forms = {
    'multipart/form-data; boundary=x': `${field('a', '1').repeat(300_000)}--x--`,
    'application/x-www-form-urlencoded': 'a=1&'.repeat(3_000_000),
  }
  for (const [contentType, body] of Object.entries(forms)) {
    const request = new Request('http://localhost/', {
      method: 'POST',
      body,
      headers: { 'content-type': contentType },
    })
    const asked = new PageRequest(request, { method: 'POST', path: '/' }, '/', '127.0.0.1')
    await expect(asked.filledForm(32 * 1024 * 1024)).rejects.toThrow('body: has too many parameters')
    expect(await asked.submittedFields()).toEqual({})
  }
})
