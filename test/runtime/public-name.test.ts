/** What is left of a name for everybody to read. */
import { expect, test } from 'vitest'
import { publicName } from '#runtime/values/public-name'

test.each([
  ['Ana Souza', 'Ana Souza'],
  ['  Ana  ', 'Ana'],
  ['joe@x.com', null],
  ['joe @ x.com', null],
  ['joe＠x.com', null],
  ['Joe (joe@x.com)', 'Joe'],
  ['Joe Doe <joe@x.com>', 'Joe Doe'],
  ['+5511987654321', null],
  ['11 98765-4321', null],
  ['(11) 98765.4321', null],
  ['１１９８７６５４３２１', null],
  ['\u202a11\u00a098765\u20114321\u202c', null],
  ['Maria 11 98765-4321', 'Maria'],
  ['MARIA SILVA 12345678901', 'MARIA SILVA'],
  ['98765-4321 Maria J.', 'Maria J.'],
  ['Loja 24', 'Loja 24'],
  ['Loja.com', 'Loja.com'],
  ['Ana https://a.example/ganhe', 'Ana'],
  ['http://a.example', null],
  ['www.a.example Souza', 'Souza'],
  ['WWW.A.EXAMPLE', null],
  ['Grátis:a.example/x?y', null],
  ['a.example/x', null],
  ['J.R. Tolkien', 'J.R. Tolkien'],
  ['Sra. Ana/José', 'Sra. Ana/José'],
  ['Ana 2ª', 'Ana 2ª'],
  ['---', '---'],
  ['\u202eAna\u202c Souza', 'Ana Souza'],
  ['علی\u200cرضا', 'علی\u200cرضا'],
  ['\u3164', null],
  ['\u2800 \u200b', null],
  ['', null],
  [null, null],
])('%j is %j', (name, shown) => {
  expect(publicName(name)).toBe(shown)
})
