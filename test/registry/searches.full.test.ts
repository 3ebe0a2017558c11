/** Every text search returns the same result with a custom plan and with the generic plan for few rows. */
import { expect, test } from 'vitest'
import { seedDemo } from '#scripts/seed/demo'
import { testApp } from '#test/support/app'

const app = await testApp()

test('every list returns the same search results the second time, on every page', async () => {
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
  // Searches without results would prove nothing.
  expect(new Set(found).size).toBeGreaterThan(searched.length / 2)
})
