! The calls of Fortran's bindings, in either module.
program ring
  use mpi
  implicit none
  integer :: error, rank, ranks, total, got, requests(2)
  call mpi_init(error)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, error)
  call mpi_allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (total /= ranks * (ranks - 1) / 2) stop 8
  call mpi_irecv(got, 1, MPI_INTEGER, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, requests(1), error)
  call mpi_isend(rank, 1, MPI_INTEGER, mod(rank + 1, ranks), 3, MPI_COMM_WORLD, requests(2), error)
  call mpi_waitall(2, requests, MPI_STATUSES_IGNORE, error)
  if (got /= mod(rank + ranks - 1, ranks)) stop 9
  call mpi_barrier(MPI_COMM_WORLD, error)
  call mpi_finalize(error)
end program ring
