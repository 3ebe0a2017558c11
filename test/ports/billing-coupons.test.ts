import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readCouponsFile } from '#operations/subscription/provider/coupons-file'

describe('a file of coupons', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coupons-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const file = (content: string): string => {
    const path = join(folder, 'coupons.json')
    writeFileSync(path, content)
    return path
  }

  test('a coupon file is read once, and searched ignoring case', () => {
    const find = readCouponsFile(file('[{"code":"Spring","percentOff":15,"planIds":["growth"]}]'))
    expect(find(' SPRING ')).toMatchObject({
      code: 'Spring',
      percentOff: 15,
      amountOff: null,
      planIds: ['growth'],
    })
    expect(find('autumn')).toBeNull()
    expect(readCouponsFile(null)('SPRING')).toBeNull()
  })

  test.each([
    ['no JSON', '{', /cannot be read as JSON/],
    ['a field that is unknown', '[{"code":"A","percentOff":1,"percent":2}]', /Unrecognized key/],
    ['neither percent nor amount', '[{"code":"A"}]', /must have percentOff or amountOff/],
    ['both', '[{"code":"A","percentOff":1,"amountOff":"1.00","currency":"BRL"}]', /and not both/],
    ['an amount without currency', '[{"code":"A","amountOff":"1.00"}]', /must have a currency/],
    ['a code twice', '[{"code":"A","percentOff":1},{"code":"a","percentOff":2}]', /has a twice/],
  ])('a coupon file with %s stops the start', (_, content, message) => {
    const path = file(content)
    expect(() => readCouponsFile(path)).toThrow(message)
  })
})
