/** Names, addresses and phones of people who do not exist. */
import type { Random } from './random.ts'

export interface Person {
  name: string
  email: string
  /** E.164. */
  phone: string
}

const given = (
  'Ana Beatriz Bruno Caio Camila Carla Cecília Daniel Davi Débora Eduardo Elisa Enzo Fernanda Gabriel Helena ' +
  'Heitor Igor Isabela João Júlia Larissa Laura Leandro Lívia Lucas Luiza Manuela Marcos Mariana Mateus Miguel ' +
  'Natália Nina Otávio Paula Pedro Rafael Renata Rodrigo Sofia Tatiana Teresa Thiago Valentina Vicente Yara'
).split(' ')
const family = (
  'Almeida Alves Araújo Barbosa Barros Batista Campos Cardoso Carvalho Castro Cavalcanti Costa Cunha Dias Duarte ' +
  'Farias Fernandes Ferreira Freitas Gomes Lima Lopes Machado Martins Melo Mendes Monteiro Moreira Moura Nunes ' +
  'Oliveira Pereira Pinto Ramos Ribeiro Rocha Santana Santos Silva Souza Teixeira Vieira'
).split(' ')
const englishGiven = 'Alice Ben Clara Diane Ethan Fiona Grace Henry Isla Jack Kate Liam'.split(' ')
const englishFamily = 'Adams Baker Carter Dixon Evans Foster Green Hayes Irwin James'.split(' ')
const areaCodes = ['11', '11', '11', '21', '31', '41', '48', '51', '61', '71', '81', '85']

/** A Brazilian with a mobile phone that ends in `number` (four digits, none that the sandbox treats specially). */
export function brazilian(random: Random, number: number): Person {
  const name = `${random.pick(given)} ${random.pick(family)}`
  return {
    name,
    email: `${plain(name)}.${number}@example.com`,
    phone: `+55${random.pick(areaCodes)}9${random.whole(6000, 9999)}${number}`,
  }
}

const places: Record<string, [city: string, state: string, postalCode: string, street: string]> = {
  '+5511': ['São Paulo', 'SP', '01310', 'Rua Augusta'],
  '+5521': ['Rio de Janeiro', 'RJ', '22070', 'Rua Barata Ribeiro'],
  '+5531': ['Belo Horizonte', 'MG', '30130', 'Rua da Bahia'],
  '+5541': ['Curitiba', 'PR', '80020', 'Rua XV de Novembro'],
  '+5548': ['Florianópolis', 'SC', '88015', 'Rua Bocaiúva'],
  '+5551': ['Porto Alegre', 'RS', '90035', 'Rua da República'],
  '+5561': ['Brasília', 'DF', '70350', 'Quadra 308'],
  '+5571': ['Salvador', 'BA', '40140', 'Rua Marquês de Leão'],
  '+5581': ['Recife', 'PE', '52020', 'Rua do Futuro'],
  '+5585': ['Fortaleza', 'CE', '60160', 'Rua Ana Bilhar'],
  '+1917': ['New York', 'NY', '10014', 'Bleecker Street'],
}

/** Where the orders of somebody with this phone go. */
export function addressOf({ name, phone }: Person, country: string): Record<string, string> {
  const [city, state, area, street] = places[phone.slice(0, 5)]!
  const number = phone.slice(-4)
  const postalCode = country === 'BR' ? `${area}-${phone.slice(-3)}` : area
  return { recipient: name, street, number, city, state, postalCode, country, phone }
}

export function american(random: Random, number: number): Person {
  const name = `${random.pick(englishGiven)} ${random.pick(englishFamily)}`
  return {
    name,
    email: `${plain(name)}.${number}@example.com`,
    phone: `+1917${random.whole(300, 799)}${number}`,
  }
}

const plain = (name: string): string =>
  name.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replaceAll(' ', '.')
