import { describe, expect, test } from 'vitest'
import { readSubmittedFields } from '#runtime/gateway/submitted-fields'
import { PageRequest } from '#runtime/page'
import { type FormIssue, FormRenderer } from '#runtime/values/form-renderer'

const createIssue = (field: string | null, text: string): FormIssue => ({
  field,
  text,
  standalone: `Above: ${text}`,
})
const submit = (fields: Record<string, string>, ...faults: FormIssue[]) =>
  new FormRenderer({ address: '/a', fields, issues: faults, locale: 'pt-BR' })
const name = { name: 'name', label: 'Name', initial: 'Ana' }

describe('a form', () => {
  test('a new form has its initial values and no messages', () => {
    const form = new FormRenderer()
    expect(form.form('', form.input(name))).toBe(
      '<form method="post"><label for="name">Name</label><input id="name" name="name" value="Ana"></form>',
    )
    expect(form.files({ name: 'photos', label: 'Photos' })).not.toContain('note')
  })

  test('a refused form has the submitted values, even empty ones, as text', () => {
    expect(submit({ name: '' }).input(name)).toContain('value=""')
    expect(submit({}).input(name)).toContain('value="Ana"')
    const odd = `"><script>'&amp;`
    const drawn = [
      submit({ name: odd }).input(name),
      submit({ name: odd }).textarea(name),
      submit({ name: odd }).files(name),
      submit({ name: 'x' }, createIssue('name', odd)).input(name),
      submit({ name: 'x' }, createIssue(null, odd)).renderUnshown(),
    ]
    for (const each of drawn) expect(each).toContain('&#34;&#62;&#60;script&#62;&#39;&#38;amp;')
    expect(drawn.join('')).not.toContain('<script')
    // A browser drops the first line end after the tag.
    expect(submit({ name: '\nx' }).textarea(name)).toContain('>\n\nx</textarea>')
  })

  test('each issue is shown once: at its field, the rest above; the first field has the focus', () => {
    const form = submit(
      {},
      createIssue('b', 'B'),
      createIssue('a', 'A'),
      createIssue('gone', 'G'),
      createIssue(null, 'N'),
    )
    const page = form.form('', ['a', 'b'].map((each) => form.input({ name: each, label: each })).join(''))
    expect(page.match(/autofocus/g)).toHaveLength(1)
    expect(page).toMatch(/name="a"[^>]* aria-invalid="true" autofocus aria-describedby="a-wrong"/)
    expect(page).toContain('<p class="wrong" id="b-wrong" role="alert">B</p>')
    expect(page).toMatch(/^<p class="wrong above" role="alert" tabindex="-1">Above: G Above: N<\/p><form/)
    expect([form.isComplete, form.renderUnshown()]).toEqual([true, ''])
  })

  test('only the submitted one of several forms has the values', () => {
    const form = submit({ type: 'return' }, createIssue(null, 'N'))
    expect(form.forAddress('/a', { type: 'return' })).toBe(form)
    expect([
      form.forAddress('/a', { type: 'exchange' }).isSubmitted,
      form.forAddress('/b').isSubmitted,
    ]).toEqual([false, false])
  })

  test('submitted choices are selected', () => {
    const form = submit({ way: 'b', yes: 'true' })
    const choices = ['a', 'b'].map((value) => ({ value, label: value }))
    const way = { name: 'way', label: 'Way', initial: 'a' }
    expect(form.select(way, choices)).toContain('value="b" selected')
    expect(form.radios(way, choices).match(/value="(\w)" checked/)![1]).toBe('b')
    expect(form.checkbox({ name: 'yes', label: 'Yes' })).toContain(' checked')
    expect(submit({}).checkbox({ name: 'yes', label: 'Yes' })).not.toContain(' checked')
  })

  test('the files to choose again are named', () => {
    expect(submit({ photos: 'a.png' }).files({ name: 'photos', label: 'Photos' })).toContain(
      'aria-describedby="photos-note"><p class="note" id="photos-note">Escolha de novo, o navegador não guarda arquivos: a.png',
    )
  })
})

describe('submitted fields', () => {
  const asked = (body: string | FormData | URLSearchParams, headers: Record<string, string> = {}) =>
    new PageRequest(
      new Request('http://localhost/a', { method: 'POST', body, headers }),
      { method: 'POST', path: '/a' },
      '/a',
      '10.0.0.1',
    )

  test('are available after a refusal, without forbidden characters', async () => {
    const request = asked(new URLSearchParams({ name: 'a\u0000b', empty: '', lines: 'a\r\nb' }))
    await expect(request.fields()).rejects.toThrow('control characters')
    expect({ ...(await request.submittedFields()) }).toEqual({ name: 'ab', empty: '', lines: 'a\nb' })
    const form = 'application/x-www-form-urlencoded'
    const broken = asked('name=%ff%&__proto__=x&constructor=y', { 'content-type': form })
    expect({ ...(await broken.submittedFields()) }).toEqual({ name: '\ufffd%' })
  })

  test('are available for a form with files, which is read once', async () => {
    const fields = new FormData()
    fields.append('name', 'Ana')
    for (const each of ['a.png', 'b.png']) fields.append('photos', new Blob(['x']), each)
    const request = asked(fields)
    expect((await request.filledForm(10_000)).files).toHaveLength(2)
    expect({ ...(await request.submittedFields()) }).toEqual({ name: 'Ana', photos: 'a.png, b.png' })
    const none = asked('nonsense', { 'content-type': 'multipart/form-data; boundary=x' })
    await expect(none.filledForm(10_000)).rejects.toThrow('is no form')
    expect({ ...(await none.submittedFields()) }).toEqual({})
  })

  test('are limited in size', () => {
    expect(readSubmittedFields([['a', 'x'.repeat(300_000)]])).toBeNull()
  })
})
