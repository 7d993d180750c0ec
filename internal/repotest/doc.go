// Package repotest holds the gates of this repository as plain tests: what is generated is what is committed, routes, schemas,
// examples, catalogues and documents agree, packages import what they may, and nothing released is broken.
//
// Each gate is a function that gives a list of problems. It has two tests: the repository passes, and a planted fault is
// caught, since a gate that cannot fail is none. There is nothing to import here.
package repotest
