import { describe, expect, test } from 'vitest'
import { typedFields } from '#runtime/gateway/typed-fields'
import { PageRequest } from '#runtime/page'
import { Filled, type FormFault } from '#runtime/values/filled'

const fault = (field: string | null, text: string): FormFault => ({ field, text, above: `Above: ${text}` })
const sent = (fields: Record<string, string>, ...faults: FormFault[]) =>
  new Filled({ address: '/a', fields, faults, locale: 'pt-BR' })
const name = { name: 'name', label: 'Name', first: 'Ana' }

describe('a form', () => {
  test('that is new begins with what it is given, and says nothing', () => {
    const form = new Filled()
    expect(form.form('', form.input(name))).toBe(
      '<form method="post"><label for="name">Name</label><input id="name" name="name" value="Ana"></form>',
    )
    expect(form.files({ name: 'photos', label: 'Photos' })).not.toContain('note')
  })

  test('that was refused has what was typed, even nothing, as text', () => {
    expect(sent({ name: '' }).input(name)).toContain('value=""')
    expect(sent({}).input(name)).toContain('value="Ana"')
    const odd = `"><script>'&amp;`
    const drawn = [
      sent({ name: odd }).input(name),
      sent({ name: odd }).textarea(name),
      sent({ name: odd }).files(name),
      sent({ name: 'x' }, fault('name', odd)).input(name),
      sent({ name: 'x' }, fault(null, odd)).above(),
    ]
    for (const each of drawn) expect(each).toContain('&#34;&#62;&#60;script&#62;&#39;&#38;amp;')
    expect(drawn.join('')).not.toContain('<script')
    // A browser takes the first line end after the tag for none of the text.
    expect(sent({ name: '\nx' }).textarea(name)).toContain('>\n\nx</textarea>')
  })

  test('says each fault once: at its field, the rest above; the first field has the focus', () => {
    const form = sent({}, fault('b', 'B'), fault('a', 'A'), fault('gone', 'G'), fault(null, 'N'))
    const page = form.form('', ['a', 'b'].map((each) => form.input({ name: each, label: each })).join(''))
    expect(page.match(/autofocus/g)).toHaveLength(1)
    expect(page).toMatch(/name="a"[^>]* aria-invalid="true" autofocus aria-describedby="a-wrong"/)
    expect(page).toContain('<p class="wrong" id="b-wrong" role="alert">B</p>')
    expect(page).toMatch(/^<p class="wrong above" role="alert" tabindex="-1">Above: G Above: N<\/p><form/)
    expect([form.isSaid, form.above()]).toEqual([true, ''])
  })

  test('of several is the one that was sent', () => {
    const form = sent({ type: 'return' }, fault(null, 'N'))
    expect(form.of('/a', { type: 'return' })).toBe(form)
    expect([form.of('/a', { type: 'exchange' }).isSent, form.of('/b').isSent]).toEqual([false, false])
  })

  test('ticks and chooses what was', () => {
    const form = sent({ way: 'b', yes: 'true' })
    const choices = ['a', 'b'].map((value) => ({ value, label: value }))
    const way = { name: 'way', label: 'Way', first: 'a' }
    expect(form.select(way, choices)).toContain('value="b" selected')
    expect(form.radios(way, choices).match(/value="(\w)" checked/)![1]).toBe('b')
    expect(form.checkbox({ name: 'yes', label: 'Yes' })).toContain(' checked')
    expect(sent({}).checkbox({ name: 'yes', label: 'Yes' })).not.toContain(' checked')
  })

  test('names the files that are to be chosen again', () => {
    expect(sent({ photos: 'a.png' }).files({ name: 'photos', label: 'Photos' })).toContain(
      'aria-describedby="photos-note"><p class="note" id="photos-note">Escolha de novo, o navegador não guarda arquivos: a.png',
    )
  })
})

describe('what was typed', () => {
  const asked = (body: string | FormData | URLSearchParams, headers: Record<string, string> = {}) =>
    new PageRequest(
      new Request('http://localhost/a', { method: 'POST', body, headers }),
      { method: 'POST', path: '/a' },
      '/a',
      '10.0.0.1',
    )

  test('is there though it was refused, without what no text may hold', async () => {
    const request = asked(new URLSearchParams({ name: 'a\u0000b', empty: '', lines: 'a\r\nb' }))
    await expect(request.fields()).rejects.toThrow('control characters')
    expect({ ...(await request.typed()) }).toEqual({ name: 'ab', empty: '', lines: 'a\nb' })
    const form = 'application/x-www-form-urlencoded'
    const broken = asked('name=%ff%&__proto__=x&constructor=y', { 'content-type': form })
    expect({ ...(await broken.typed()) }).toEqual({ name: '\ufffd%' })
  })

  test('is there of a form with files, and read but once', async () => {
    const fields = new FormData()
    fields.append('name', 'Ana')
    for (const each of ['a.png', 'b.png']) fields.append('photos', new Blob(['x']), each)
    const request = asked(fields)
    expect((await request.filledForm(10_000)).files).toHaveLength(2)
    expect({ ...(await request.typed()) }).toEqual({ name: 'Ana', photos: 'a.png, b.png' })
    const none = asked('nonsense', { 'content-type': 'multipart/form-data; boundary=x' })
    await expect(none.filledForm(10_000)).rejects.toThrow('is no form')
    expect({ ...(await none.typed()) }).toEqual({})
  })

  test('is not sent back by the megabyte', () => {
    expect(typedFields([['a', 'x'.repeat(300_000)]])).toBeNull()
  })
})
