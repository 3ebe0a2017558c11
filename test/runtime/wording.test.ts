import { expect, test } from 'vitest'
import { getEnglishTexts, getLanguage, translateBuiltIn, type Words } from '#runtime/values/wording'

interface Content {
  isEnabled: boolean
  title: string | null
  texts: { one: string; other: string }
  fields: { key: string; label: string }[]
}
const words = {
  title: { en: 'Hello', 'pt-BR': 'Olá', es: 'Hola' },
  texts: { one: { en: 'One', 'pt-BR': 'Um', es: 'Uno' } },
  fields: ({ key }: { key: string }) =>
    key === 'name' ? { label: { en: 'Name', 'pt-BR': 'Nome', es: 'Nombre' } } : undefined,
} satisfies Words<Content>

const content: Content = {
  isEnabled: true,
  title: 'Hello',
  texts: { one: 'One', other: 'One' },
  fields: [
    { key: 'name', label: 'Name' },
    { key: 'name', label: 'Who?' },
    { key: 'other', label: 'Name' },
  ],
}

test('unchanged default texts are in the language of the store, everything else stays', () => {
  expect(translateBuiltIn<Content>(content, words, 'pt-BR')).toEqual({
    isEnabled: true,
    title: 'Olá',
    texts: { one: 'Um', other: 'One' },
    fields: [
      { key: 'name', label: 'Nome' },
      { key: 'name', label: 'Who?' },
      { key: 'other', label: 'Name' },
    ],
  })
  expect(translateBuiltIn<Content>({ ...content, title: null }, words, 'es-MX').title).toBeNull()
  expect(translateBuiltIn<Content>(content, words, 'de')).toEqual(content)
  expect(getEnglishTexts(words)).toEqual({ title: 'Hello', texts: { one: 'One' } })
})

test.each([
  ['pt', 'pt-BR'],
  ['PT-pt', 'pt-BR'],
  ['es-419', 'es'],
  ['et', 'en'],
  ['en-GB', 'en'],
])('the language of %s is %s', (locale, language) => {
  expect(getLanguage(locale)).toBe(language)
})
