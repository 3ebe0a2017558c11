/** Every list that looks for text answers the same both ways: planned for the text, and by the plan of a store with few rows. */
import { expect, test } from 'vitest'
import { seedDemo } from '#scripts/seed/demo'
import { testApp } from '#test/support/app'

const app = await testApp()

test('what is looked for is found the same the second time, on every page, by every list', async () => {
  const { keys } = await seedDemo(app.services, 'owner')
  const authorization = `Bearer ${keys[0]!.key}`
  const searched = app.registry.operations.filter(({ spec, parameters }) => {
    const query = spec.input?.query as { shape?: object } | undefined
    return spec.method === 'GET' && parameters.length === 0 && 'search' in (query?.shape ?? {})
  })
  expect(searched.length).toBeGreaterThan(10)
  const found: string[] = []
  for (const { spec, id } of searched) {
    for (const search of ['9', 'an', 'ca', 'zzzz']) {
      for (const page of [1, 2]) {
        const answers: string[] = []
        for (let times = 0; times < 3; times += 1) {
          const response = await app.fetch(
            new Request(`http://localhost/v1${spec.path}?search=${search}&limit=3&page=${page}`, {
              headers: { authorization },
            }),
          )
          answers.push(`${response.status} ${await response.text()}`)
        }
        expect(new Set(answers).size, `${id} ${search} ${page}`).toBe(1)
        if (/"total":[1-9]/.test(answers[0]!)) found.push(id)
      }
    }
  }
  // A walk that finds nothing shows nothing.
  expect(new Set(found).size).toBeGreaterThan(searched.length / 2)
})
