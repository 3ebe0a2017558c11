/** Generates the demo's pictures: motifs on a background, in a palette that is chosen by a number. */
import { type Form, type Motif, motifs, type Shape, type Tone } from './motifs.ts'

interface Placed {
  motif: Motif
  /** Centre and size, in percent of the picture's height. */
  x: number
  y: number
  size: number
}

export interface Picture {
  /** In pixels. */
  width: number
  height: number
  palette: Palette
  isClear?: boolean
  things: readonly Placed[]
}

export type Palette = Readonly<Record<Tone | 'ground' | 'floor', string>>

const palettes: readonly Palette[] = [
  ['#f3ead9', '#e3d3b8', '#b4532a', '#5b2a17', '#e8b48c', '#2f6f6b'],
  ['#e2ecea', '#c6dad5', '#2f6f6b', '#173c3a', '#9cc7bd', '#d9803f'],
  ['#ece6f2', '#d6cbe4', '#6b4e92', '#352349', '#b9a2d6', '#d9a13f'],
  ['#f6e4e0', '#e9c9c2', '#a33b4b', '#511c27', '#e3a3a3', '#3f6d99'],
  ['#e4ebf3', '#c9d7e6', '#3f6d99', '#1d3650', '#9fbfdd', '#d9803f'],
  ['#edf0dc', '#d8deb9', '#6f7f35', '#38411a', '#bcc788', '#b4532a'],
  ['#efe9e4', '#d9cdc3', '#8a6a50', '#44321f', '#cbb09a', '#2f6f6b'],
].map(([ground, floor, main, dark, light, accent]) => ({
  ...{ ground: ground!, floor: floor!, main: main!, dark: dark!, light: light!, accent: accent! },
  white: '#ffffff',
}))

const choosePalette = (number: number): Palette => palettes[number % palettes.length]!

const side = 600

/** Composes the picture of one product. `isNear`: a close-up. */
export const composeProduct = (motif: Motif, number: number, isNear = false): Picture => ({
  ...{ width: side, height: side, palette: choosePalette(isNear ? number + 3 : number) },
  things: [isNear ? { motif, x: 42, y: 62, size: 118 } : { motif, x: 50, y: 50, size: 72 }],
})

export interface Drawn {
  form: Form
  colour: string
}

/** Returns all shapes with coordinates in pixels, background first. */
function layOutShapes({ width, height, palette, isClear, things }: Picture): Drawn[] {
  const unit = height / 100
  const behind: Drawn[] = isClear
    ? []
    : [
        { form: ['box', 0, 0, width, height, 0], colour: palette.ground },
        { form: ['box', 0, 74 * unit, width, 26 * unit, 0], colour: palette.floor },
      ]
  return [
    ...behind,
    ...things.flatMap(({ motif, x, y, size }) => {
      const scale = (size / 100) * unit
      const left = x * unit - 50 * scale
      const top = y * unit - 50 * scale
      return (motifs[motif] as readonly Shape[]).map(({ form, tone }) => ({
        form: transform(form, { left, top, scale }),
        colour: palette[tone],
      }))
    }),
  ]
}

/** The meaning of each number of a form: `x` and `y` are coordinates, `l` is a length. */
const measures = { box: 'xylll', oval: 'xyll', ring: 'xylll', line: 'xyxyl' } as const

function transform(form: Form, { left, top, scale }: { left: number; top: number; scale: number }): Form {
  const [kind, ...numbers] = form
  const meaning = kind === 'area' ? 'xy'.repeat(numbers.length / 2) : measures[kind]
  const offsets = { x: left, y: top, l: 0 }
  return [
    kind,
    ...numbers.map((each, at) => each * scale + offsets[meaning[at] as 'x' | 'y' | 'l']),
  ] as unknown as Form
}

const renderShape = ([kind, a = 0, b = 0, c = 0, d = 0, e = 0, ...more]: Form, colour: string): string => {
  const n = (value: number): string => String(Math.round(value * 10) / 10)
  const pair = (name: string, x: number, y: number): string => `${name[0]}="${n(x)}" ${name[1]}="${n(y)}"`
  switch (kind) {
    case 'box':
      return `<rect ${pair('xy', a, b)} width="${n(c)}" height="${n(d)}" rx="${n(e)}" fill="${colour}"/>`
    case 'oval':
      return `<ellipse cx="${n(a)}" cy="${n(b)}" rx="${n(c)}" ry="${n(d)}" fill="${colour}"/>`
    case 'ring':
      return `<ellipse cx="${n(a)}" cy="${n(b)}" rx="${n(c)}" ry="${n(d)}" fill="none" stroke="${colour}" stroke-width="${n(e)}"/>`
    case 'line':
      return `<path d="M${n(a)} ${n(b)}L${n(c)} ${n(d)}" stroke="${colour}" stroke-width="${n(e)}" stroke-linecap="round"/>`
    case 'area':
      return `<polygon points="${[a, b, c, d, e, ...more].map(n).join(' ')}" fill="${colour}"/>`
  }
}

export const renderSvg = (picture: Picture): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${picture.width}" height="${picture.height}" viewBox="0 0 ${picture.width} ${picture.height}">` +
  `${layOutShapes(picture)
    .map(({ form, colour }) => renderShape(form, colour))
    .join('')}</svg>`
